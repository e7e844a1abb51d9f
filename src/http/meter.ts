/**
 * What is counted of every request: by operation its statuses, its refusals by code and its latency. All counters are there
 * from the start and are found by index, so counting is a few additions to typed arrays: 15 to 40 ns a request.
 */
import type { Exposition } from '../base/prometheus.ts';
import { ERROR_STATUS, type ErrorCode } from './errors.ts';

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[];
const CODE_INDEX = Object.fromEntries(CODES.map((code, index) => [code, index])) as Record<ErrorCode, number>;

const STATUS_MIN = 100;
const STATUS_COUNT = 500;

/**
 * Upper bounds of the latency buckets, milliseconds: an unpaid offer takes some tenths of one, a signature one to three, a
 * settlement on a chain seconds, a long poll up to thirty.
 */
const LATENCY_BOUNDS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const;

export class OperationMeter {
  /** `none` for requests that are no operation's: unknown paths and methods. */
  readonly operation: string;
  readonly #declared: readonly ErrorCode[];
  /** By status - 100. */
  readonly #statuses = new Float64Array(STATUS_COUNT);
  /** By CODE_INDEX. */
  readonly #codes = new Float64Array(CODES.length);
  /** Of requests at most as slow as the bound with the same index and slower than the one before; the last has no bound. */
  readonly #latencies = new Float64Array(LATENCY_BOUNDS_MS.length + 1);
  #latencySumMs = 0;

  /** @param successStatuses,codes shown from the start, so that a first one is seen as a rise */
  constructor(operation: string, successStatuses: readonly number[], codes: readonly ErrorCode[]) {
    this.operation = operation;
    this.#declared = codes;
    this.#shown = new Set([...successStatuses, ...codes.map((code) => ERROR_STATUS[code])]);
  }

  readonly #shown: ReadonlySet<number>;

  /** One request is answered. @param code of its refusal, if it was one */
  count(status: number, durationMs: number, code: ErrorCode | undefined): void {
    this.#statuses[status - STATUS_MIN]!++;
    if (code !== undefined) this.#codes[CODE_INDEX[code]]!++;
    let bucket = 0;
    while (bucket < LATENCY_BOUNDS_MS.length && durationMs > LATENCY_BOUNDS_MS[bucket]!) bucket++;
    this.#latencies[bucket]!++;
    this.#latencySumMs += durationMs;
  }

  /** Requests so far that were answered with the status. */
  countOf(status: number): number {
    return this.#statuses[status - STATUS_MIN]!;
  }

  writeStatuses(into: Exposition): void {
    const { operation } = this;
    for (let status = STATUS_MIN; status < STATUS_MIN + STATUS_COUNT; status++) {
      const count = this.countOf(status);
      if (count > 0 || this.#shown.has(status)) into.sample(count, { operation, status: String(status) });
    }
  }

  writeCodes(into: Exposition): void {
    const { operation } = this;
    for (const code of CODES) {
      const count = this.#codes[CODE_INDEX[code]]!;
      if (count > 0 || this.#declared.includes(code)) into.sample(count, { operation, code });
    }
  }

  writeLatencies(into: Exposition): void {
    const { operation } = this;
    let count = 0;
    for (const [index, inBucket] of this.#latencies.entries()) {
      count += inBucket;
      const bound = LATENCY_BOUNDS_MS[index];
      into.sample(count, { operation, le: bound === undefined ? '+Inf' : String(bound / 1000) }, '_bucket');
    }
    into.sample(this.#latencySumMs / 1000, { operation }, '_sum');
    into.sample(count, { operation }, '_count');
  }
}
