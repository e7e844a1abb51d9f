/**
 * Limits of requests by key, for example by client address (a port): a backend holds the counts, so that several processes
 * may share them.
 */
import type { MaybePromise } from './maybe-promise.ts';

export interface RateLimiter {
  /**
   * One indivisible step: counts this try if it passes; refused tries do not count.
   * @returns 0 when it passes, otherwise the milliseconds until the next try can
   */
  tryPass(key: string): MaybePromise<number>;
  /** What {@link tryPass} would return now; counts nothing. */
  peek(key: string): MaybePromise<number>;
}

export interface RateLimits {
  /**
   * The limiter of a name, with separate counts: at most `limit` passes of one key in any span of `windowMs`. An
   * implementation that holds too many keys may forget the least recently seen one, which may let that key pass early but
   * never refuses a key wrongly.
   * @param name of the counts, the same in every process that shares them; opened again it gives the same limiter
   * @param limit at least 1
   */
  open(name: string, limit: number, windowMs: number): RateLimiter;
}
