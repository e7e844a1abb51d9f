/** Rate limits in the memory of one process: an exact sliding window for each recently seen key. */
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { lruMap } from '../../base/lru-map.ts';
import type { RateLimiter, RateLimits } from '../../base/rate-limits.ts';
import { RateWindow } from '../../base/rate-window.ts';

/**
 * The most bytes of one limiter's windows: 4 for each permitted pass, so 10,000 addresses at the default limit of 600.
 * Beyond that the limiter forgets the key seen longest ago, which never refuses a client wrongly; no limit by address
 * stops a client with thousands of addresses anyway.
 */
const WINDOW_BYTES_MAX = 24_000_000;
const PASS_BYTES = 4;
const KEY_COUNT_MAX = 10_000;

/** Keys that one limiter remembers. */
export const windowCountMax = (limit: number): number =>
  Math.min(KEY_COUNT_MAX, Math.max(1, Math.floor(WINDOW_BYTES_MAX / (PASS_BYTES * limit))));

class MemoryRateLimiter implements RateLimiter {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #windows: LRUCache<string, RateWindow>;

  constructor(limit: number, windowMs: number, clock: Clock) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#windows = lruMap(windowCountMax(limit));
  }

  tryPass(key: string): number {
    let window = this.#windows.get(key);
    if (window === undefined) {
      window = new RateWindow(this.#limit, this.#windowMs);
      this.#windows.set(key, window);
    }
    return window.tryPass(this.#clock.monotonicMs());
  }

  peek(key: string): number {
    return this.#windows.get(key)?.peek(this.#clock.monotonicMs()) ?? 0;
  }
}

export class MemoryRateLimits implements RateLimits {
  readonly #clock: Clock;
  readonly #limiters = new Map<string, RateLimiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(name: string, limit: number, windowMs: number): RateLimiter {
    if (!(limit >= 1)) throw new Error(`a rate limit of ${limit}: at least 1`);
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const limiter = new MemoryRateLimiter(limit, windowMs, this.#clock);
    this.#limiters.set(name, limiter);
    return limiter;
  }
}
