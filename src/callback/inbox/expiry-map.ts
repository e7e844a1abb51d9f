/**
 * A map whose entries end by the clock. All lifetimes in one map are equal, so the order in which entries were put in is
 * the order in which they end; lru-cache keeps that order as long as it is only peeked at, and a sweep looks at its front
 * alone. One timer waits for the front entry, or for as long as sweeps are to lie apart. An entry past its end is not found,
 * whether or not the timer has run.
 *
 * Measured with 100,000 entries that were put in at once (two runs each, Node 26.10 / Bun 1.4.5
 * on two shared cores; longest turn in processor time, heap an entry): lru-cache's timer for each entry (`ttlAutopurge`)
 * 6..12 / 5..16 ms and 336 / 278 B; its `purgeStale` 78..102 / 100..102 ms and 81 / 110 B; this sweep of 256 at a time
 * 4..5 / 8..10 ms and 81 / 110 B.
 *
 * Without `countMax` nothing is ever evicted: that is for what somebody paid for.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { SWEEP_COUNT_MAX } from '../limits.ts';

export interface ExpiryMapOptions<V> {
  readonly lifetimeMs: number;
  /** Entries at most, the oldest makes room for a new one; undefined = no entry ever makes room. */
  readonly countMax?: number;
  /** From one sweep to the next, at least; 0 when not given. */
  readonly sweepPauseMs?: number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The sweep met an entry past its end, and has removed it. Not called for one that is deleted or evicted. */
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

  /** Entries that are held, ended ones that were not swept yet included. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param leftMs what is left of its lifetime; entries are to be put in in the order of their ends */
  set(key: string, value: V, leftMs: number = this.#options.lifetimeMs): void {
    this.#entries.set(key, value, { ttl: Math.max(leftMs, Number.MIN_VALUE) });
    if (this.#cancelTimer === undefined) this.#arm(leftMs);
  }

  /** The entry, until the very moment of its end. */
  get(key: string): V | undefined {
    return this.#entries.getRemainingTTL(key) > 0 ? this.#entries.peek(key) : undefined;
  }

  /** The entry, also past its end while it has not been swept. */
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

  /** Ends what is due, at most SWEEP_COUNT_MAX entries, and sets the timer for what comes next. */
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

  /** No timer is left behind; entries stay. */
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
