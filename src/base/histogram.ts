/** A histogram of durations for the metrics. Counting takes a comparison for each bound up to the duration's, and no allocation. */
import type { Exposition, Labels } from './prometheus.ts';

export class Histogram {
  readonly #boundsMs: readonly number[];
  /** Number of durations by bucket: above the previous bound, at most its own; the last bucket has no bound. */
  readonly #counts: Float64Array;
  #sumMs = 0;

  /** @param boundsMs upper bounds of the buckets, ascending, milliseconds */
  constructor(boundsMs: readonly number[]) {
    this.#boundsMs = boundsMs;
    this.#counts = new Float64Array(boundsMs.length + 1);
  }

  add(durationMs: number): void {
    let bucket = 0;
    while (bucket < this.#boundsMs.length && durationMs > this.#boundsMs[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sumMs += durationMs;
  }

  /** Writes the samples in seconds, after the family's head. */
  write(page: Exposition, labels: Labels = {}): void {
    let count = 0;
    for (const [bucket, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const boundMs = this.#boundsMs[bucket];
      page.sample(count, { ...labels, le: boundMs === undefined ? '+Inf' : String(boundMs / 1000) }, '_bucket');
    }
    page.sample(this.#sumMs / 1000, labels, '_sum').sample(count, labels, '_count');
  }
}
