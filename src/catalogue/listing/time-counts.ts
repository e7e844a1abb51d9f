/**
 * Counts how many of up to millions of times come before a moment. One pass puts the times into buckets of equal width;
 * a bucket is sorted when a question first asks for a moment inside it, so that the first question need not wait until
 * all are sorted.
 *
 * Memory: about 8 bytes a time.
 */
import { firstWhere } from '../../base/first-where.ts';
import type { ObservationPeriod } from '../questions/period.ts';

const BUCKETS_MAX = 4096;
/** Times in a bucket on average, if they spread evenly: smaller buckets make no search faster. */
const BUCKET_TIMES = 64;

export class TimeCounts {
  /** Bucket after bucket; those of bucket b are `#times[#ends[b - 1]] .. #times[#ends[b] - 1]`. */
  readonly #times: Float64Array;
  readonly #ends: Uint32Array;
  readonly #isSorted: Uint8Array;
  /** The earliest; 0 where there is none. */
  readonly firstMs: number;
  readonly #lastMs: number;
  /** Buckets a millisecond. */
  readonly #scale: number;

  /** @param times whole milliseconds, in any order; not kept */
  constructor(times: Float64Array) {
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < times.length; i++) {
      if (times[i]! < first) first = times[i]!;
      if (times[i]! > last) last = times[i]!;
    }
    const bucketCount = Math.min(BUCKETS_MAX, Math.ceil(times.length / BUCKET_TIMES) + 1);
    this.#isSorted = new Uint8Array(bucketCount);
    this.firstMs = times.length === 0 ? 0 : first;
    this.#lastMs = last;
    this.#scale = last > first ? (bucketCount - 1) / (last - first) : 0;
    const firstMs = this.firstMs;
    const scale = this.#scale;
    const buckets = new Uint16Array(times.length);
    const starts = new Uint32Array(bucketCount + 1);
    for (let i = 0; i < times.length; i++) {
      const bucket = ((times[i]! - firstMs) * scale) | 0;
      buckets[i] = bucket;
      starts[bucket + 1]!++;
    }
    for (let bucket = 0; bucket < bucketCount; bucket++) starts[bucket + 1]! += starts[bucket]!;
    const sorted = new Float64Array(times.length);
    for (let i = 0; i < times.length; i++) sorted[starts[buckets[i]!]!++] = times[i]!;
    this.#times = sorted;
    // Each start moved to where its bucket ends.
    this.#ends = starts;
  }

  /** How many times are before a moment. */
  before(ms: number): number {
    if (ms <= this.firstMs || this.#times.length === 0) return 0;
    if (ms > this.#lastMs) return this.#times.length;
    const bucket = ((ms - this.firstMs) * this.#scale) | 0;
    const start = bucket === 0 ? 0 : this.#ends[bucket - 1]!;
    const end = this.#ends[bucket]!;
    if (this.#isSorted[bucket] === 0) {
      this.#times.subarray(start, end).sort();
      this.#isSorted[bucket] = 1;
    }
    return firstWhere(start, end, (place) => this.#times[place]! >= ms);
  }

  /** How many lie inside a period, both ends included. */
  inside({ endMs, startMs }: ObservationPeriod): number {
    return this.before(endMs + 1) - this.before(startMs);
  }
}
