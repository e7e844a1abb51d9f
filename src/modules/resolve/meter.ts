/** Counts the works of resolves by how they ended, and how long they took. */
import type { Exposition } from '../../base/prometheus.ts';
import type { ResolveStore } from '../../resolve/resolve-store.ts';
import type { Resolver } from '../../resolve/resolver.ts';
import { FAILURE_CODES, type ResolveOutcome } from '../../resolve/result.ts';

/** Upper bounds of the buckets, seconds: from a quick page to the end of a work's 30 seconds. */
const BOUNDS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30] as const;

export class ResolveMeter {
  readonly #outcomes = new Map<string, number>(['resolved', ...FAILURE_CODES].map((outcome) => [outcome, 0]));
  readonly #buckets = new Float64Array(BOUNDS_SECONDS.length + 1);
  #sumSeconds = 0;

  count(outcome: ResolveOutcome, durationMs: number): void {
    const name = outcome.failure?.code ?? 'resolved';
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1);
    const seconds = durationMs / 1000;
    const found = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BOUNDS_SECONDS.length : found;
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
    this.#sumSeconds += seconds;
  }

  write(page: Exposition, resolver: Resolver, store: ResolveStore): void {
    page.family('paygrade_resolve_outcomes_total', 'counter', 'Works of resolves by how they ended.');
    for (const [outcome, count] of this.#outcomes) page.sample(count, { outcome });
    page.family('paygrade_resolve_duration_seconds', 'histogram', 'How long works of resolves took.');
    let count = 0;
    for (const [index, inBucket] of this.#buckets.entries()) {
      count += inBucket;
      const bound = BOUNDS_SECONDS[index];
      page.sample(count, { le: bound === undefined ? '+Inf' : String(bound) }, '_bucket');
    }
    page.sample(this.#sumSeconds, {}, '_sum').sample(count, {}, '_count');
    const { live, tombstones, storedBytes, capacityBytes } = store.counts;
    page
      .single('paygrade_resolves_under_way', 'gauge', 'Resolves that hold a place.', resolver.claimCount)
      .single('paygrade_resolves_kept', 'gauge', 'Resolves within their hour.', live)
      .single('paygrade_resolves_expired', 'gauge', 'Expired resolves that still answer 410.', tombstones)
      .single('paygrade_resolve_stored_bytes', 'gauge', 'Bytes of outcomes that are kept.', storedBytes)
      .single('paygrade_resolve_capacity_bytes', 'gauge', 'Bytes of outcomes that may be kept.', capacityBytes);
  }
}
