/**
 * Latencies in an HDR histogram of three significant figures: the runtime's own (`node:perf_hooks`, on Bun too), which needs no
 * package. Unit: microseconds, from 1 to an hour. 0.2 MB each.
 */
import { createHistogram } from 'node:perf_hooks';

const HIGHEST_US = 3_600_000_000;

/** Microseconds. */
export interface LatencySummary {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p99_9: number;
  readonly max: number;
}

/** [percentile 0..100, microseconds] */
export type CurvePoint = readonly [number, number];

/** Points of a curve per further nine of the percentile. */
const POINTS_PER_NINE = 12;

export class Latencies {
  readonly #histogram = createHistogram({ lowest: 1, highest: HIGHEST_US, figures: 3 });
  /** Exact, where the histogram has three significant figures. */
  #minUs = Number.POSITIVE_INFINITY;
  #maxUs = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Less than a microsecond counts as one, more than an hour as an hour. */
  record(latencyMs: number): void {
    const us = Math.min(HIGHEST_US, Math.max(1, Math.round(latencyMs * 1000)));
    this.#histogram.record(us);
    this.#count++;
    if (us < this.#minUs) this.#minUs = us;
    if (us > this.#maxUs) this.#maxUs = us;
  }

  add(other: Latencies): void {
    if (other.#count === 0) return;
    this.#histogram.add(other.#histogram);
    this.#count += other.#count;
    this.#minUs = Math.min(this.#minUs, other.#minUs);
    this.#maxUs = Math.max(this.#maxUs, other.#maxUs);
  }

  /** Microseconds; 0 when empty. @param percentile above 0, at most 100 */
  at(percentile: number): number {
    if (this.#count === 0) return 0;
    return Math.max(this.#minUs, Math.min(this.#maxUs, Number(this.#histogram.percentile(percentile))));
  }

  reset(): void {
    this.#histogram.reset();
    this.#count = 0;
    this.#minUs = Number.POSITIVE_INFINITY;
    this.#maxUs = 0;
  }

  /** null when empty */
  summary(): LatencySummary | null {
    if (this.#count === 0) return null;
    return {
      count: this.#count,
      min: this.#minUs,
      mean: Math.round(this.#histogram.mean),
      p50: this.at(50),
      p75: this.at(75),
      p90: this.at(90),
      p95: this.at(95),
      p99: this.at(99),
      p99_9: this.at(99.9),
      max: this.#maxUs,
    };
  }

  /** Points up to the highest percentile that this many values can resolve, denser towards the end. */
  curve(): readonly CurvePoint[] {
    if (this.#count === 0) return [];
    const nineCount = Math.log10(Math.max(10, this.#count));
    const pointCount = Math.ceil(nineCount * POINTS_PER_NINE);
    const points: CurvePoint[] = [];
    for (let i = 1; i <= pointCount; i++) {
      const percentile = 100 * (1 - 10 ** (-(i / pointCount) * nineCount));
      points.push([Math.round(percentile * 1e6) / 1e6, this.at(percentile)]);
    }
    return points;
  }
}
