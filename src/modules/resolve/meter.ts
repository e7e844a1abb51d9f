/** Counts the works of resolves by outcome and duration. */
import { Histogram } from '../../base/histogram.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import { WORK_MS } from '../../resolve/limits.ts';
import type { ResolveStore } from '../../resolve/resolve-store.ts';
import type { Resolver } from '../../resolve/resolver.ts';
import { FAILURE_CODES, type ResolveOutcome } from '../../resolve/result.ts';

/** Upper bounds of the buckets, milliseconds: from a quick page to the end of a work's time. */
const BOUNDS_MS = [100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, WORK_MS] as const;

const OUTCOMES = ['resolved', ...FAILURE_CODES] as const;

export class ResolveMeter {
  readonly #outcomes = zeroCounts(OUTCOMES);
  readonly #durations = new Histogram(BOUNDS_MS);

  count(outcome: ResolveOutcome, durationMs: number): void {
    this.#outcomes[outcome.failure?.code ?? 'resolved']++;
    this.#durations.add(durationMs);
  }

  write(page: Exposition, resolver: Resolver, store: ResolveStore): void {
    page.family('paygrade_resolve_outcomes_total', 'counter', 'Works of resolves by how they ended.');
    for (const outcome of OUTCOMES) page.sample(this.#outcomes[outcome], { outcome });
    page.family('paygrade_resolve_duration_seconds', 'histogram', 'How long works of resolves took.');
    this.#durations.write(page);
    const { live, tombstones, storedBytes, capacityBytes } = store.counts;
    page
      .single('paygrade_resolves_under_way', 'gauge', 'Resolves that hold a place.', resolver.claimCount)
      .single('paygrade_resolves_kept', 'gauge', 'Resolves within their hour.', live)
      .single('paygrade_resolves_expired', 'gauge', 'Expired resolves that still answer 410.', tombstones)
      .single('paygrade_resolve_stored_bytes', 'gauge', 'Bytes of outcomes that are kept.', storedBytes)
      .single('paygrade_resolve_capacity_bytes', 'gauge', 'Bytes of outcomes that may be kept.', capacityBytes);
  }
}
