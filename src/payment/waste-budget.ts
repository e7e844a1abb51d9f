/**
 * A token bucket for the work that a group of clients may waste. Useless work takes its cost from the bucket, which refills
 * over time up to the burst; the group pauses while the bucket is overdrawn. Useful work is never charged.
 */
export class WasteBudget {
  readonly #burst: number;
  readonly #refillPerMs: number;
  #left: number;
  #refilledAtMs = Number.NEGATIVE_INFINITY;

  /**
   * @param burst what may be wasted at once, after a quiet while
   * @param refillPerMs what may be wasted in the long run
   */
  constructor(burst: number, refillPerMs: number) {
    this.#burst = burst;
    this.#refillPerMs = refillPerMs;
    this.#left = burst;
  }

  /** Milliseconds until the group may go on; 0 = now. */
  pauseMs(nowMs: number): number {
    this.#refill(nowMs);
    return Math.max(0, -this.#left / this.#refillPerMs);
  }

  /** @param cost below zero for a refund */
  charge(cost: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#left -= cost;
  }

  #refill(nowMs: number): void {
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#refilledAtMs) * this.#refillPerMs);
    this.#refilledAtMs = nowMs;
  }
}
