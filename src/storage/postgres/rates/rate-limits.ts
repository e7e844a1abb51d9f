/**
 * Rate limits that processes share without a round trip a request (siblings §9). Each process has an exact window of
 * its own passes for each key, and shares its sums with the others every {@link SHARE_MS}, and at once when a key has
 * `allowance` unshared passes; the next request of that key waits for the share. Sums of others count for a whole
 * window from the moment at which the database received them.
 *
 * The arithmetic. L is the limit, N the processes that live, A = max(1, floor(L / 10 / (N + 1))) the allowance. At any
 * moment a process has at most A unshared passes of a key. Let k be the last process to hear the others before it
 * admits a pass: it knows of all passes but the unshared ones of others, at most A each, and counts fewer than L; after
 * that it admits at most A more, and so does each other process. So a window holds at most L + N A passes: at most
 * 1.1 L when L >= 10 (N + 1), and otherwise at most one more for each process. Requests are refused early only because sums
 * of others count up to {@link SHARE_MS} longer than their passes: 1/60 of a minute. A rarely used key is never shared:
 * fewer than A / 2 unshared passes stay within A.
 *
 * While the database is away, each process limits by what it knows. A process that starts reads the sums of the last window.
 */
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../../base/clock.ts';
import { MINUTE_MS } from '../../../base/durations.ts';
import { lruMap } from '../../../base/lru-map.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../../../base/rate-limits.ts';
import { RateWindow } from '../../../base/rate-window.ts';
import type { Timers } from '../../../base/timers.ts';
import { windowCountMax } from '../../memory/rate-limits.ts';
import type { Database } from '../database.ts';
import { Repeated } from '../repeated.ts';
import { OtherSums } from './other-sums.ts';
import { FORGET, SHARE } from './statements.ts';

const SHARE_MS = 1000;
/** The longest window that can be shared. */
const WINDOW_MS_MAX = MINUTE_MS;
/** How much later than its recorded time a sum may commit. */
const LATE_MS = 5000;
/** Shares between two removals of old sums. */
const FORGET_EVERY = 30;

/** How many passes of one key a process may admit before it shares them. */
export const allowanceOf = (limit: number, processCount: number): number =>
  Math.max(1, Math.floor(limit / 10 / (processCount + 1)));

interface Own {
  readonly window: RateWindow;
  /** Passes not yet shared. */
  unshared: number;
  /** The part of `unshared` that the last message carries. */
  telling: number;
}

/** What the limiters share. */
interface Sharing {
  readonly clock: Clock;
  /** Processes that live. */
  readonly processCount: number;
  /** True: nothing can be shared now, so limits hold for each process alone. */
  readonly isAlone: boolean;
  /** Sends our sums and hears those of others; never rejects. */
  share(): Promise<void>;
}

class SharedLimiter implements RateLimiter {
  readonly others = new OtherSums();
  readonly windowMs: number;
  readonly #limit: number;
  readonly #sharing: Sharing;
  readonly #own: LRUCache<string, Own>;
  /**
   * Keys that the next message carries: those with at least half of their allowance unshared, so also all with a
   * waiting request.
   */
  readonly #toShare = new Set<string>();

  constructor(limit: number, windowMs: number, sharing: Sharing) {
    this.#limit = limit;
    this.windowMs = windowMs;
    this.#sharing = sharing;
    this.#own = lruMap(windowCountMax(limit));
  }

  tryPass(key: string): MaybePromise<number> {
    const { clock } = this.#sharing;
    const nowMs = clock.monotonicMs();
    const own = this.#ownOf(key);
    const waitMs = this.#waitOf(key, own.window, nowMs);
    if (waitMs > 0) return waitMs;
    if (this.#hasToShare(own)) return this.#sharing.share().then(() => this.tryPass(key));
    own.window.tryPass(nowMs);
    own.unshared++;
    if (own.unshared * 2 >= this.#allowance()) this.#toShare.add(key);
    return 0;
  }

  /** Waits for a share where {@link tryPass} does: an answer without one would let in what the others have counted. */
  peek(key: string): MaybePromise<number> {
    const own = this.#own.get(key);
    const waitMs = this.#waitOf(key, own?.window, this.#sharing.clock.monotonicMs());
    if (waitMs > 0 || own === undefined || !this.#hasToShare(own)) return waitMs;
    return this.#sharing.share().then(() => this.peek(key));
  }

  /** The allowance may be smaller now. */
  processesChanged(): void {
    const allowance = this.#allowance();
    for (const [key, { unshared }] of this.#own.entries()) if (unshared * 2 >= allowance) this.#toShare.add(key);
  }

  /** The unshared passes for the next message; they stay unshared until {@link told}. */
  sums(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const key of this.#toShare) {
      const own = this.#own.get(key);
      if (own !== undefined) own.telling = own.unshared;
      sums[key] = own?.telling ?? 0;
    }
    return sums;
  }

  told(sums: Readonly<Record<string, number>>): void {
    for (const key of Object.keys(sums)) {
      const own = this.#own.get(key);
      // A key that was evicted and came back has passes that no message carried.
      if (own !== undefined) own.unshared -= own.telling;
      if ((own?.unshared ?? 0) === 0) this.#toShare.delete(key);
    }
  }

  #allowance(): number {
    return allowanceOf(this.#limit, this.#sharing.processCount);
  }

  #hasToShare({ unshared }: Own): boolean {
    return unshared >= this.#allowance() && !this.#sharing.isAlone;
  }

  #ownOf(key: string): Own {
    let own = this.#own.get(key);
    if (own === undefined) {
      own = { window: new RateWindow(this.#limit, this.windowMs), unshared: 0, telling: 0 };
      this.#own.set(key, own);
    }
    return own;
  }

  #waitOf(key: string, window: RateWindow | undefined, nowMs: number): number {
    const elsewhere = this.others.of(key, nowMs);
    const ownMs = window?.peek(nowMs, elsewhere) ?? (elsewhere < this.#limit ? 0 : Number.POSITIVE_INFINITY);
    return ownMs === 0 ? 0 : Math.max(1, Math.min(ownMs, this.others.leavesInMs(key, nowMs)));
  }
}

export interface SharedRateLimitsPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly database: Database;
  /** Names this process. */
  readonly processId: string;
}

type Sums = Readonly<Record<string, Readonly<Record<string, number>>>>;
type Heard = readonly [process: string, serial: number, atMs: number, sums: Sums];

const nameOf = ([process, serial]: Heard): string => `${process} ${serial}`;

export class SharedRateLimits implements RateLimits, Sharing {
  readonly clock: Clock;
  processCount = 1;
  isAlone = false;
  readonly #ports: SharedRateLimitsPorts;
  readonly #limiters = new Map<string, SharedLimiter>();
  /** Sums of others in the present window, which limiters that are opened later count too. */
  #heard: Heard[] = [];
  #serial = 0;
  /** The database's clock and ours at the last share. */
  #databaseMs = 0;
  #monotonicMs = 0;
  readonly #shares: Repeated;

  constructor(ports: SharedRateLimitsPorts) {
    this.#ports = ports;
    this.clock = ports.clock;
    this.#shares = new Repeated(
      ports,
      SHARE_MS,
      () => this.#share(),
      () => {},
    );
  }

  /** Hears the sums of the last window. Called once. */
  async start(): Promise<void> {
    await this.share();
    this.#shares.start();
  }

  open(name: string, limit: number, windowMs: number): RateLimiter {
    if (!(limit >= 1)) throw new Error(`a rate limit of ${limit}: at least 1`);
    if (windowMs > WINDOW_MS_MAX) throw new Error(`a shared rate window of ${windowMs} ms: at most ${WINDOW_MS_MAX}`);
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const limiter = new SharedLimiter(limit, windowMs, this);
    this.#limiters.set(name, limiter);
    for (const heard of this.#heard) this.#count(name, limiter, heard);
    return limiter;
  }

  share(): Promise<void> {
    return this.#shares.now();
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.#shares.close();
    // Set last: a share in flight may have set it to false. No further share follows, and a request waiting for one
    // would ask again in an endless loop of microtasks.
    this.isAlone = true;
  }

  async #share(): Promise<void> {
    const { clock, database, processId } = this.#ports;
    const said: [SharedLimiter, Record<string, number>][] = [];
    const sums: Record<string, Record<string, number>> = {};
    for (const [name, limiter] of this.#limiters) {
      const its = limiter.sums();
      if (Object.keys(its).length === 0) continue;
      said.push([limiter, its]);
      sums[name] = its;
    }
    const text = said.length === 0 ? null : JSON.stringify(sums);
    try {
      const values = [processId, ++this.#serial, text, this.#databaseMs - LATE_MS];
      const [row] = await database.run({ ...SHARE, values });
      for (const [limiter, its] of said) limiter.told(its);
      this.isAlone = false;
      this.#countProcesses(Math.max(1, row?.processes as number));
      this.#databaseMs = row?.now_ms as number;
      this.#monotonicMs = clock.monotonicMs();
      this.#hear(row?.heard as Heard[]);
      if (this.#serial % FORGET_EVERY === 0) await database.run(FORGET);
    } catch {
      // Until the database is back, each process limits by what it knows; the next share carries all of it.
      this.isAlone = true;
    }
  }

  #countProcesses(count: number): void {
    const isMore = count > this.processCount;
    this.processCount = count;
    if (isMore) for (const limiter of this.#limiters.values()) limiter.processesChanged();
  }

  #hear(heard: readonly Heard[]): void {
    const { clock } = this.#ports;
    const oldestMs = this.#databaseMs - WINDOW_MS_MAX;
    const counted = new Set(this.#heard.map(nameOf));
    this.#heard = this.#heard.filter(([, , atMs]) => atMs > oldestMs);
    for (const one of heard) {
      if (counted.has(nameOf(one))) continue;
      counted.add(nameOf(one));
      this.#heard.push(one);
      for (const [name, limiter] of this.#limiters) this.#count(name, limiter, one);
    }
    for (const { others } of this.#limiters.values()) others.forget(clock.monotonicMs());
  }

  #count(name: string, limiter: SharedLimiter, [, , atMs, sums]: Heard): void {
    const its = sums[name];
    if (its === undefined) return;
    // A sum from the future was shared before the clock was set back; taken literally, its time would make it count longer.
    const ageMs = Math.max(0, this.#databaseMs - atMs);
    limiter.others.add(its, this.#monotonicMs - ageMs + limiter.windowMs);
  }
}
