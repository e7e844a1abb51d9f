/**
 * How late the event loop begins what arrives, over the last five seconds (decisions §4, loop pressure).
 *
 * A timer that should have fired at `due` and fired at `end` shows that whatever arrived at a moment t between the two began
 * at `end`, `end - t` late. So a look that is late by L stands for L milliseconds of arrivals, whose lateness falls evenly
 * from L to 0: one block of two seconds weighs as much as the hundred looks that it prevented, and the first look after it
 * notices. The quantile is over all moments of the window at which a request may arrive.
 */
import { LATENESS_COUNT_MAX, LATENESS_FLOOR_MS, LATENESS_WINDOW_MS } from './limits.ts';

export class LatenessWindow {
  /** Late looks, oldest first: when they ended and by how many milliseconds they were late. LATENESS_COUNT_MAX at most. */
  readonly #endsMs: number[] = [];
  readonly #latesMs: number[] = [];

  /** @param endMs when the timer fired, monotonic, not before the previous one. @param lateMs after it was due */
  add(endMs: number, lateMs: number): void {
    const isFull = this.#endsMs.length >= LATENESS_COUNT_MAX;
    if (isFull || (this.#endsMs[0] ?? endMs) <= endMs - LATENESS_WINDOW_MS) {
      this.#endsMs.shift();
      this.#latesMs.shift();
    }
    if (lateMs < LATENESS_FLOOR_MS) return;
    this.#endsMs.push(endMs);
    this.#latesMs.push(lateMs);
  }

  /**
   * The lateness, milliseconds, that this share of the window's moments does not exceed; 1 gives the greatest. While the loop
   * is hardly ever late, a call costs one addition per late look; otherwise they are sorted.
   */
  quantileMs(share: number, nowMs: number): number {
    const tailMs = (1 - share) * LATENESS_WINDOW_MS;
    const latesMs = this.#within(nowMs - LATENESS_WINDOW_MS);
    let sumMs = 0;
    for (const lateMs of latesMs) sumMs += lateMs;
    if (sumMs <= tailMs) return 0;
    // The moments later than x last max(0, late - x) in each look; x is where they add up to the tail.
    latesMs.sort((a, b) => b - a);
    let aboveMs = 0;
    for (let i = 0; ; i++) {
      aboveMs += latesMs[i]!; // ends at the last look, because all looks together exceed the tail
      const nextMs = latesMs[i + 1] ?? 0;
      if (aboveMs - (i + 1) * nextMs >= tailMs) return (aboveMs - tailMs) / (i + 1);
    }
  }

  /** The part of each late look that lies after `sinceMs`. */
  #within(sinceMs: number): number[] {
    const latesMs: number[] = [];
    for (const [index, endMs] of this.#endsMs.entries()) {
      if (endMs > sinceMs) latesMs.push(Math.min(this.#latesMs[index]!, endMs - sinceMs));
    }
    return latesMs;
  }
}
