/**
 * A sliding window: at most `limit` passes in any span of `windowMs`, exactly (no fixed buckets, so no double burst at an
 * edge). A pass stops counting `windowMs` later, at most a microsecond late and never early. Refused tries do not count. Time
 * is monotonic: a step of the wall clock causes neither a burst nor a lock-out.
 *
 * Cost: O(1) a try; 4 bytes a pass, in a ring that grows by doubling to `limit` entries.
 */
const FIRST_CAPACITY = 8;

/** A time is the low 32 bits of its microseconds, so differences are right up to half of 2^32 microseconds. */
const WINDOW_MS_MAX = 1_000_000;

export class RateWindow {
  readonly #limit: number;
  readonly #windowUs: number;
  /** Times of the passes that may still be inside the window, microseconds modulo 2^32, oldest at `#head`. */
  #times: Uint32Array;
  #head = 0;
  #count = 0;
  /** Time of the last pass, whole milliseconds: after a longer silence the low bits of older times are ambiguous. */
  #lastMs = 0;

  /** @param windowMs at most {@link WINDOW_MS_MAX} */
  constructor(limit: number, windowMs: number) {
    if (windowMs > WINDOW_MS_MAX) throw new Error(`a rate window of ${windowMs} ms: at most ${WINDOW_MS_MAX}`);
    this.#limit = limit;
    this.#windowUs = windowMs * 1000;
    this.#times = new Uint32Array(Math.min(limit, FIRST_CAPACITY));
  }

  /** 0 when this try passes; otherwise the milliseconds until the next one can. */
  tryPass(nowMs: number): number {
    const waitMs = this.peek(nowMs);
    if (waitMs > 0) return waitMs;
    if (this.#count === this.#times.length) this.#grow();
    // Rounded up, and the age rounded down: a pass never stops counting early.
    this.#times[(this.#head + this.#count) % this.#times.length] = Math.ceil(nowMs * 1000);
    this.#lastMs = Math.ceil(nowMs);
    this.#count++;
    return 0;
  }

  /**
   * What {@link tryPass} would return; counts nothing.
   * @param elsewhere passes that count in addition to this window's; if they alone reach the limit, the wait is infinite
   */
  peek(nowMs: number, elsewhere = 0): number {
    if ((nowMs - this.#lastMs) * 1000 >= this.#windowUs) this.#count = 0;
    const nowUs = Math.floor(nowMs * 1000);
    while (this.#count > 0 && this.#ageUs(nowUs) >= this.#windowUs) {
      this.#head = (this.#head + 1) % this.#times.length;
      this.#count--;
    }
    if (this.#count + elsewhere < this.#limit) return 0;
    return this.#count === 0 ? Number.POSITIVE_INFINITY : (this.#windowUs - this.#ageUs(nowUs)) / 1000;
  }

  /** Microseconds since the oldest pass; -1 for one in the same microsecond. */
  #ageUs(nowUs: number): number {
    return (nowUs - this.#times[this.#head]!) | 0;
  }

  #grow(): void {
    const grown = new Uint32Array(Math.min(this.#limit, this.#times.length * 2));
    for (let i = 0; i < this.#count; i++) grown[i] = this.#times[(this.#head + i) % this.#times.length]!;
    this.#times = grown;
    this.#head = 0;
  }
}
