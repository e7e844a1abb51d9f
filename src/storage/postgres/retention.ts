/**
 * Which claims are old enough to remove, by the monotonic clock: a claim is once this process has seen
 * {@link RETAINED_MS} pass since a moment at which the claim existed. The database's wall clock must agree (claims.ts),
 * so that neither clock alone can make a used authorization look free.
 * Cost: one entry for each {@link SPAN_MS} of the retention.
 */
import type { Clock } from '../../base/clock.ts';
import { WINDOW_SECONDS_MAX } from '../../payment/protocol/network.ts';
import { RETENTION_SECONDS } from '../../payment/reservations.ts';

/** Milliseconds until even the latest permitted `validBefore` and the retention after it are over. */
const RETAINED_MS = (WINDOW_SECONDS_MAX + RETENTION_SECONDS) * 1000;
const SPAN_MS = 5000;

interface Span {
  /** Monotonic time at which it ends: all its claims existed by then. */
  readonly endMs: number;
  lastSerial: number;
}

export class Retention {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #spans: Span[] = [];
  #removable = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a claim with this serial exists now. */
  saw(serial: number): void {
    const nowMs = this.#clock.monotonicMs();
    const last = this.#spans.at(-1);
    if (last !== undefined && nowMs < last.endMs) last.lastSerial = Math.max(last.lastSerial, serial);
    else this.#spans.push({ endMs: nowMs + SPAN_MS, lastSerial: Math.max(last?.lastSerial ?? 0, serial) });
  }

  /** The highest serial that is old enough to remove; 0 = none. */
  removableSerial(): number {
    const beforeMs = this.#clock.monotonicMs() - RETAINED_MS;
    let count = 0;
    for (const { endMs, lastSerial } of this.#spans) {
      if (endMs > beforeMs) break;
      this.#removable = lastSerial;
      count++;
    }
    this.#spans.splice(0, count);
    return this.#removable;
  }
}
