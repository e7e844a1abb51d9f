/**
 * Whether the facilitator can be reached (decisions §4; reliability 95, 100, 101). Only evidence about the facilitator
 * itself counts: a call that never connected, and the health question `GET /supported`. The outcome of one payload does
 * not: a contract wallet's signature can make a healthy facilitator answer 500 or nothing, so after such a call the
 * circuit asks the health question and counts that answer instead.
 *
 * {@link FAILURES_TO_OPEN} failures in a row open the circuit. The health question is repeated every second until one call
 * succeeds, which closes the circuit. Bound: one question at a time, and a pause of {@link PROBE_PAUSE_MS} between two.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';

export const FAILURES_TO_OPEN = 5;
export const PROBE_PAUSE_MS = 1000;

export interface CircuitPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called with false at a failure, also of the first call, and with true at the first success after it. */
  onFacilitatorReachable?(isReachable: boolean): void;
}

export class Circuit {
  readonly #ports: CircuitPorts;
  readonly #askHealth: () => Promise<boolean>;
  #failureCount = 0;
  #hasBeenReached = false;
  /** The last argument of `onFacilitatorReachable`. It is not called for a facilitator that answers from the beginning. */
  #reported = true;
  #isProbing = false;
  /** Cancels the scheduled question, if there is one. */
  #cancelProbe: (() => void) | undefined;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #stopped = false;

  /** @param askHealth asks the health question; true when the facilitator is well. Never rejects */
  constructor(ports: CircuitPorts, askHealth: () => Promise<boolean>) {
    this.#ports = ports;
    this.#askHealth = askHealth;
  }

  /** Whether the last call that counts reached the facilitator. False before the first. */
  isReachable(): boolean {
    return this.#hasBeenReached && this.#failureCount === 0;
  }

  isOpen(): boolean {
    return this.#failureCount >= FAILURES_TO_OPEN;
  }

  /** A call was answered. */
  noteReached(): void {
    this.#cancel();
    this.#hasBeenReached = true;
    this.#failureCount = 0;
    this.#report();
  }

  /** A call never connected. */
  noteUnreached(): void {
    this.#failureCount++;
    this.#report();
    this.ask();
  }

  /** Asks the health question, as soon as the pause allows. */
  ask(): void {
    if (this.#stopped || this.#isProbing || this.#cancelProbe !== undefined) return;
    const { clock, timers } = this.#ports;
    const waitMs = this.#probedAtMs + PROBE_PAUSE_MS - clock.monotonicMs();
    if (waitMs <= 0) {
      this.#probe();
      return;
    }
    this.#cancelProbe = timers.after(waitMs, () => {
      this.#cancelProbe = undefined;
      this.#probe();
    });
  }

  /** Stops asking and reporting: calls that end later say nothing about the facilitator that the operator could act on. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #cancel(): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
  }

  #probe(): void {
    this.#isProbing = true;
    void this.#askHealth().then((isReached) => {
      this.#isProbing = false;
      this.#probedAtMs = this.#ports.clock.monotonicMs();
      if (isReached) this.noteReached();
      else this.noteUnreached();
    });
  }

  #report(): void {
    const isReachable = this.isReachable();
    if (this.#stopped || isReachable === this.#reported) return;
    this.#reported = isReachable;
    this.#ports.onFacilitatorReachable?.(isReachable);
  }
}
