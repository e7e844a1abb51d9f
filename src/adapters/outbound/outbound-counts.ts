/** Counts of outbound requests for the metrics. */
import { Histogram } from '../../base/histogram.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import type { OutboundResult } from '../../outbound/outbound.ts';
import { RULE_NAMES } from '../../outbound/policy.ts';

type Kind = OutboundResult['kind'];

const KINDS = ['answer', 'blocked', 'timeout', 'unreachable', 'tls-error', 'too-large', 'aborted'] as const;

/** All ranges that are not public, as one rule: a series for each would make a hundred. */
const RANGES = 'address';

/** Upper bounds of the durations' buckets, milliseconds. */
const BOUNDS_MS = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

export class OutboundCounts {
  readonly #results: Record<Kind, number> = zeroCounts(KINDS);
  /** By rule; all ranges of addresses together. */
  readonly #blocked = new Map([...RULE_NAMES, RANGES].map((rule) => [rule, 0]));
  readonly #durations = new Histogram(BOUNDS_MS);

  noteResult(kind: Kind, durationMs: number): void {
    this.#results[kind]++;
    this.#durations.add(durationMs);
  }

  noteBlocked(rule = RANGES): void {
    const counted = this.#blocked.has(rule) ? rule : RANGES;
    this.#blocked.set(counted, (this.#blocked.get(counted) ?? 0) + 1);
  }

  write(page: Exposition, turns: { readonly inUse: number; readonly waiting: number }): void {
    page
      .single('paygrade_outbound_in_flight', 'gauge', 'Outbound requests that hold a slot.', turns.inUse)
      .single('paygrade_outbound_waiting', 'gauge', 'Outbound requests that wait for a slot.', turns.waiting)
      .family('paygrade_outbound_requests_total', 'counter', 'Outbound requests by how they ended.');
    for (const kind of KINDS) page.sample(this.#results[kind], { result: kind });
    page.family('paygrade_outbound_blocked_total', 'counter', 'Targets that the policy refused, by rule.');
    for (const [rule, count] of this.#blocked) page.sample(count, { rule });
    page.family('paygrade_outbound_duration_seconds', 'histogram', 'Time of an outbound request after its turn came.');
    this.#durations.write(page);
  }
}
