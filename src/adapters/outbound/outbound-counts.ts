/** Counts of outbound requests for the metrics. */
import type { Exposition } from '../../base/prometheus.ts';
import type { OutboundResult } from '../../outbound/outbound.ts';
import { RULE_NAMES } from '../../outbound/policy.ts';

type Kind = OutboundResult['kind'];

const KINDS = ['answer', 'blocked', 'timeout', 'unreachable', 'tls-error', 'too-large', 'aborted'] as const;

/** Every range that is not public, as one rule: a series for each would be a hundred. */
const RANGES = 'address';

/** Upper bounds of the duration histogram, seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export class OutboundCounts {
  readonly #results: Record<Kind, number> = {
    answer: 0,
    blocked: 0,
    timeout: 0,
    unreachable: 0,
    'tls-error': 0,
    'too-large': 0,
    aborted: 0,
  };
  /** By rule; all ranges of addresses together. */
  readonly #blocked = new Map([...RULE_NAMES, RANGES].map((rule) => [rule, 0]));
  /** Requests of at most this duration, by bucket. */
  readonly #within: number[] = BUCKETS.map(() => 0);
  #secondsSum = 0;
  #count = 0;

  noteResult(kind: Kind, durationMs: number): void {
    this.#results[kind]++;
    const seconds = durationMs / 1000;
    BUCKETS.forEach((bound, i) => {
      if (seconds <= bound) this.#within[i] = (this.#within[i] ?? 0) + 1;
    });
    this.#secondsSum += seconds;
    this.#count++;
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
    BUCKETS.forEach((bound, i) => {
      page.sample(this.#within[i] ?? 0, { le: String(bound) }, '_bucket');
    });
    page
      .sample(this.#count, { le: '+Inf' }, '_bucket')
      .sample(this.#secondsSum, {}, '_sum')
      .sample(this.#count, {}, '_count');
  }
}
