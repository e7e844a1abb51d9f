/**
 * A map whose entries expire by the clock. All lifetimes in one map are equal, so entries expire in the order of insertion;
 * lru-cache preserves that order because this file only peeks, so a sweep reads only the front. One timer waits for the
 * front entry, or for the least pause between sweeps. A lookup does not find an expired entry, whether or not the timer has
 * fired. A sweep of at most SWEEP_COUNT_MAX entries keeps turns short, and one timer takes less memory than lru-cache's timer
 * for each entry (bench/callback-store.ts).
 *
 * Without `countMax` the map never evicts an entry, because customers have paid for those entries.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { SWEEP_COUNT_MAX } from '../limits.ts';

export interface ExpiryMapOptions<V> {
  readonly lifetimeMs: number;
  /** At this many entries a new one evicts the oldest; undefined = the map never evicts. */
  readonly countMax?: number;
  /** Least time between two sweeps, milliseconds; 0 when not given. */
  readonly sweepPauseMs?: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called when a sweep removes an expired entry; not for a deleted or evicted one. */
  readonly onEnd?: (value: V, key: string) => void;
}

/** lru-cache takes a start time of 0 for "no lifetime", so its clock begins later. */
const CLOCK_ORIGIN_MS = 1;

export class ExpiryMap<V extends object> {
  readonly #entries: LRUCache<string, V>;
  readonly #options: ExpiryMapOptions<V>;
  #cancelTimer: (() => void) | undefined;

  constructor(options: ExpiryMapOptions<V>) {
    const { lifetimeMs, countMax, clock } = options;
    this.#options = options;
    this.#entries = new LRUCache({
      ttl: lifetimeMs,
      ttlResolution: 0,
      allowStale: true,
      perf: { now: () => clock.monotonicMs() + CLOCK_ORIGIN_MS },
      // Entries of size 1 instead of the package's `max`, for which it allocates everything at once and would delay the start.
      maxSize: countMax ?? Number.MAX_SAFE_INTEGER,
      sizeCalculation: () => 1,
    });
  }

  /** Number of entries, including expired ones that no sweep has removed yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param leftMs the rest of its lifetime; the caller inserts entries in the order of their expiry */
  set(key: string, value: V, leftMs: number = this.#options.lifetimeMs): void {
    this.#entries.set(key, value, { ttl: Math.max(leftMs, Number.MIN_VALUE) });
    if (this.#cancelTimer === undefined) this.#arm(leftMs);
  }

  /** The entry, unless it has expired. */
  get(key: string): V | undefined {
    return this.#entries.getRemainingTTL(key) > 0 ? this.#entries.peek(key) : undefined;
  }

  /** The entry, even an expired one that no sweep has removed yet. */
  peek(key: string): V | undefined {
    return this.#entries.peek(key);
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  /** All entries, including expired ones, oldest first. */
  values(): Generator<V, void, unknown> {
    return this.#entries.rvalues() as Generator<V, void, unknown>;
  }

  /** Removes expired entries, at most SWEEP_COUNT_MAX, and sets the timer for the next one. */
  sweep(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    let endedCount = 0;
    for (const key of this.#entries.rkeys()) {
      const leftMs = this.#entries.getRemainingTTL(key);
      if (leftMs > 0) {
        this.#arm(Math.max(leftMs, this.#options.sweepPauseMs ?? 0));
        return;
      }
      if (endedCount === SWEEP_COUNT_MAX) {
        this.#arm(0);
        return;
      }
      const value = this.#entries.peek(key) as V;
      this.#entries.delete(key);
      endedCount++;
      this.#options.onEnd?.(value, key);
    }
  }

  /** Cancels the timer; entries stay. */
  close(): void {
    this.#cancelTimer?.();
  }

  #arm(leftMs: number): void {
    this.#cancelTimer = this.#options.timers.after(Math.ceil(leftMs), () => this.sweep());
  }
}
