/**
 * A sliding window: at most `limit` passes in any span of `windowMs`, exactly (no fixed buckets, so no double burst at an
 * edge). A pass stops counting exactly `windowMs` later. Refused tries do not count. Time is monotonic: a step of the wall clock
 * gives neither a burst nor a lock-out.
 *
 * Cost: O(1) a try; 8 bytes a pass, in a ring that grows by doubling to `limit` entries.
 */
const FIRST_CAPACITY = 8;

export class RateWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  /** Times of the passes that may still be inside the window, oldest at `#head`. */
  #times: Float64Array;
  #head = 0;
  #count = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#times = new Float64Array(Math.min(limit, FIRST_CAPACITY));
  }

  /** 0 when this try passes; otherwise the milliseconds until the next one can. */
  tryPass(nowMs: number): number {
    while (this.#count > 0 && nowMs - this.#times[this.#head]! >= this.#windowMs) {
      this.#head = (this.#head + 1) % this.#times.length;
      this.#count--;
    }
    if (this.#count >= this.#limit) return this.#windowMs - (nowMs - this.#times[this.#head]!);
    if (this.#count === this.#times.length) this.#grow();
    this.#times[(this.#head + this.#count) % this.#times.length] = nowMs;
    this.#count++;
    return 0;
  }

  #grow(): void {
    const grown = new Float64Array(Math.min(this.#limit, this.#times.length * 2));
    for (let i = 0; i < this.#count; i++) grown[i] = this.#times[(this.#head + i) % this.#times.length]!;
    this.#times = grown;
    this.#head = 0;
  }
}
