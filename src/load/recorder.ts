/**
 * The observations of a run: a count and latencies for each kind and outcome, and rates over time. Requests that were due before
 * the measured part (warm-up) are only counted.
 *
 * An outcome is a status and our error code (`402 PAYMENT_REQUIRED`), a fault in an answer with the right status (`200
 * NO_RECEIPT`), a transport failure (`ECONNRESET`, `TIMEOUT`), or `UNSENT`: due before the end and never sent.
 */
import { Latencies, type LatencySummary } from './latencies.ts';
import type { Kind } from './mix.ts';

export interface Seen {
  readonly kind: Kind;
  readonly outcome: string;
  /** Whether the scenario expects the outcome. */
  readonly isExpected: boolean;
  readonly latencies: Latencies;
}

/** One stretch of the run; latencies in microseconds. */
export interface Stretch {
  /** Milliseconds from the start of the measured part to the start of the stretch. */
  readonly at_ms: number;
  readonly expected: number;
  readonly unexpected: number;
  readonly p50_us: number;
  readonly p99_us: number;
}

export const UNSENT = 'UNSENT';
const TIMEOUT = 'TIMEOUT';
/** Stretches of a run: enough for a plot of the page's width. */
const STRETCH_COUNT = 60;
const STRETCH_MS_MIN = 100;

export class Recorder {
  readonly #seen = new Map<string, Seen>();
  readonly #durationMs: number;
  /** Infinity until the run begins, so that everything before counts as warm-up. */
  #startMs = Number.POSITIVE_INFINITY;
  #endMs = Number.POSITIVE_INFINITY;
  readonly stretchMs: number;
  readonly #stretches: Stretch[] = [];
  readonly #stretch = new Latencies();
  #stretchUnexpected = 0;
  warmUpCount = 0;
  expectedCount = 0;
  unexpectedCount = 0;
  unsentCount = 0;

  /** @param durationMs length of the measured part */
  constructor(durationMs: number) {
    this.#durationMs = durationMs;
    this.stretchMs = Math.max(STRETCH_MS_MIN, Math.ceil(durationMs / STRETCH_COUNT / 100) * 100);
  }

  /** @param startMs when the measured part begins, by the monotonic clock */
  begin(startMs: number): void {
    this.#startMs = startMs;
    this.#endMs = startMs + this.#durationMs;
  }

  /** @param plannedMs when the request was due; its latency is counted from there */
  record(kind: Kind, outcome: string, isExpected: boolean, plannedMs: number, doneMs: number): void {
    if (plannedMs < this.#startMs) {
      this.warmUpCount++;
      return;
    }
    const latencyMs = doneMs - plannedMs;
    this.#latenciesOf(kind, outcome, isExpected).record(latencyMs);
    if (isExpected) this.expectedCount++;
    else this.unexpectedCount++;
    if (doneMs >= this.#endMs) return; // from the end on there is no stretch
    this.#closeStretches(doneMs);
    if (isExpected) this.#stretch.record(latencyMs);
    else this.#stretchUnexpected++;
  }

  /** Records a request that was due and not sent at the end: its latency is at least the time until now. */
  recordUnsent(kind: Kind, plannedMs: number, nowMs: number): void {
    if (plannedMs < this.#startMs) return;
    this.#latenciesOf(kind, UNSENT, false).record(nowMs - plannedMs);
    this.unsentCount++;
  }

  get seen(): readonly Seen[] {
    return [...this.#seen.values()];
  }

  /** Latencies of the current stretch, of expected answers, for the live line. */
  recentLatencies(): LatencySummary | null {
    return this.#stretch.summary();
  }

  /**
   * Latencies of a kind, or of all kinds: those of expected answers, and the lower bounds of requests that timed out or were
   * never sent. The latencies of other failures do not describe the server, so they appear only with their outcome.
   */
  latenciesOf(kind?: Kind): Latencies {
    const all = new Latencies();
    for (const seen of this.#seen.values()) {
      const isCounted = seen.isExpected || seen.outcome === UNSENT || seen.outcome === TIMEOUT;
      if (isCounted && (kind === undefined || kind === seen.kind)) all.add(seen.latencies);
    }
    return all;
  }

  /** Every stretch up to `nowMs` or the end of the measured part, empty ones too. */
  stretchesUntil(nowMs: number): readonly Stretch[] {
    this.#closeStretches(Math.min(nowMs, this.#endMs));
    if (this.#stretch.count > 0 || this.#stretchUnexpected > 0) this.#closeStretch();
    return this.#stretches;
  }

  #closeStretches(nowMs: number): void {
    while (nowMs >= this.#startMs + (this.#stretches.length + 1) * this.stretchMs) this.#closeStretch();
  }

  #closeStretch(): void {
    this.#stretches.push({
      at_ms: this.#stretches.length * this.stretchMs,
      expected: this.#stretch.count,
      unexpected: this.#stretchUnexpected,
      p50_us: this.#stretch.at(50),
      p99_us: this.#stretch.at(99),
    });
    this.#stretch.reset();
    this.#stretchUnexpected = 0;
  }

  #latenciesOf(kind: Kind, outcome: string, isExpected: boolean): Latencies {
    const key = `${kind} ${isExpected} ${outcome}`;
    let seen = this.#seen.get(key);
    if (seen === undefined) {
      seen = { kind, outcome, isExpected, latencies: new Latencies() };
      this.#seen.set(key, seen);
    }
    return seen.latencies;
  }
}
