/**
 * A map whose entries end by the clock. All lifetimes in one map are equal, so entries end in the order of insertion;
 * lru-cache keeps that order as long as this file only peeks, and a sweep looks at the front alone. One timer waits for the
 * front entry, or for the least pause between sweeps. A lookup does not find an entry past its end, whether or not the timer
 * has fired. Sweeps of SWEEP_COUNT_MAX entries keep the longest turn short, at less memory than lru-cache's timer for each
 * entry (bench/callback-store.ts).
 *
 * Without `countMax` nothing is ever evicted: customers have paid for those entries.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { SWEEP_COUNT_MAX } from '../limits.ts';

export interface ExpiryMapOptions<V> {
  readonly lifetimeMs: number;
  /** At this many entries a new one evicts the oldest; undefined = nothing is ever evicted. */
  readonly countMax?: number;
  /** Least time between two sweeps, milliseconds; 0 when not given. */
  readonly sweepPauseMs?: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** A sweep removed an entry past its end. Not called for one that is deleted or evicted. */
  readonly onEnd?: (value: V, key: string) => void;
}

/** lru-cache takes a start of 0 for "no lifetime"; its clock begins later. */
const CLOCK_ORIGIN_MS = 1;

export class ExpiryMap<V extends object> {
  readonly #entries: LRUCache<string, V>;
  readonly #options: ExpiryMapOptions<V>;
  #cancelTimer: (() => void) | undefined;

  constructor(options: ExpiryMapOptions<V>) {
    const { lifetimeMs, countMax, clock } = options;
    this.#options = options;
    const shared = {
      ttl: lifetimeMs,
      ttlResolution: 0,
      allowStale: true,
      noDeleteOnStaleGet: true,
      perf: { now: () => clock.monotonicMs() + CLOCK_ORIGIN_MS },
    };
    this.#entries =
      countMax === undefined
        ? new LRUCache({
            ...shared,
            // Some bound must be given, or the package warns on stderr; one of 9e15 entries evicts nothing.
            maxSize: Number.MAX_SAFE_INTEGER,
            sizeCalculation: () => 1,
            dispose: (_value, key, reason) => {
              if (reason === 'evict') throw new Error(`a live entry was evicted: ${key}`);
            },
          })
        : new LRUCache({ ...shared, max: countMax });
  }

  /** Entries held, including ended ones that no sweep has removed yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param leftMs the rest of its lifetime; the caller inserts entries in the order of their ends */
  set(key: string, value: V, leftMs: number = this.#options.lifetimeMs): void {
    this.#entries.set(key, value, { ttl: Math.max(leftMs, Number.MIN_VALUE) });
    if (this.#cancelTimer === undefined) this.#arm(leftMs);
  }

  /** The entry, until the millisecond of its end. */
  get(key: string): V | undefined {
    return this.#entries.getRemainingTTL(key) > 0 ? this.#entries.peek(key) : undefined;
  }

  /** The entry, also past its end until a sweep removes it. */
  peek(key: string): V | undefined {
    return this.#entries.peek(key);
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  /** Every entry held, ended ones included, oldest first. */
  values(): Generator<V, void, unknown> {
    return this.#entries.rvalues() as Generator<V, void, unknown>;
  }

  /** Ends what is due, at most SWEEP_COUNT_MAX entries, and sets the timer for the next one. */
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
    this.#cancelTimer = undefined;
  }

  #arm(leftMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.timers.after(Math.ceil(leftMs), () => {
      this.#cancelTimer = undefined;
      this.sweep();
    });
  }
}
