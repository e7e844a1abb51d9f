/**
 * Counts the requests of each operation by status, its refusals by code, and its latencies. All counters exist from the
 * start, so counting a request takes a few additions.
 */
import { Histogram } from '../base/histogram.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { ErrorCode } from './errors.ts';

const STATUS_MIN = 100;
const STATUS_COUNT = 500;

/**
 * Upper bounds of the latency buckets, milliseconds. They cover an unpaid offer (below one), a signature, a settlement on a
 * chain (seconds) and a long poll (thirty seconds).
 */
const LATENCY_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

export class OperationMeter {
  /** `operation`, and `surface` where it is not the base. */
  readonly labels: Readonly<Record<string, string>>;
  /** Number of responses by status - 100. */
  readonly #statuses = new Float64Array(STATUS_COUNT);
  /** Statuses that the metrics show from the start, so that Prometheus sees the first response as an increase. */
  readonly #shown: ReadonlySet<number>;
  readonly #codes: readonly string[];
  /** Number of refusals for each element of #codes. */
  readonly #codeCounts: Float64Array;
  readonly #latencies = new Histogram(LATENCY_BOUNDS_MS);

  /** @param codes every code that a refusal of this operation may have */
  constructor(
    labels: Readonly<Record<string, string>>,
    successStatuses: readonly number[],
    codes: readonly ErrorCode[],
  ) {
    this.labels = labels;
    this.#codes = codes.map(({ code }) => code);
    this.#codeCounts = new Float64Array(codes.length);
    this.#shown = new Set([...successStatuses, ...codes.map(({ status }) => status)]);
  }

  /** Counts one answered request. @param code of its refusal; undefined for a success */
  count(status: number, durationMs: number, code: string | undefined): void {
    this.#statuses[status - STATUS_MIN]!++;
    if (code !== undefined) {
      const index = this.#codes.indexOf(code);
      if (index >= 0) this.#codeCounts[index]!++;
    }
    this.#latencies.add(durationMs);
  }

  /** Number of responses with the status so far. */
  countOf(status: number): number {
    return this.#statuses[status - STATUS_MIN]!;
  }

  writeStatuses(into: Exposition): void {
    for (let status = STATUS_MIN; status < STATUS_MIN + STATUS_COUNT; status++) {
      const count = this.countOf(status);
      if (count > 0 || this.#shown.has(status)) into.sample(count, { ...this.labels, status: String(status) });
    }
  }

  writeCodes(into: Exposition): void {
    for (const [index, code] of this.#codes.entries()) into.sample(this.#codeCounts[index]!, { ...this.labels, code });
  }

  writeLatencies(into: Exposition): void {
    this.#latencies.write(into, this.labels);
  }
}
