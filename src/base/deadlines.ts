/**
 * Many timeouts of few lengths, such as those of waits and request bodies. Timeouts of one length end in the order in which
 * they began, so each length has a bucket: a linked list and one timer. A timer for each entry would be a noticeable share of
 * a parked wait's memory (bench/waits.ts), and of a webhook's time on Bun (bench/peers, "webhook").
 *
 * If entries come and go one at a time, each would set and cancel its bucket's timer. Deadlines that keep their timers leave
 * it set, for its length at most, and then check whether any entry is left.
 */
import type { Clock } from './clock.ts';
import type { Timers } from './timers.ts';

/** Entries that end in one turn, few enough that no request waits noticeably for them. */
const ENDED_COUNT_MAX = 256;

/** An entry of a bucket; it carries its own links. */
export abstract class TimerEntry {
  /** Monotonic, milliseconds. */
  dueAtMs = 0;
  bucket: TimerBucket | undefined;
  before: TimerEntry | undefined;
  behind: TimerEntry | undefined;

  /** Called when the timeout is over and the entry is out of its bucket. Must not throw: later entries would never end. */
  abstract onDue(): void;
}

class TimerBucket {
  readonly lengthMs: number;
  first: TimerEntry | undefined;
  last: TimerEntry | undefined;
  cancelTimer: () => void = () => {};

  constructor(lengthMs: number) {
    this.lengthMs = lengthMs;
  }
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #keepsTimers: boolean;
  /** Buckets by length in milliseconds. Each has a timer, which fires no later than its first entry is due. */
  readonly #buckets = new Map<number, TimerBucket>();

  /** @param keepsTimers whether the timer of a bucket outlives its last entry */
  constructor(clock: Clock, timers: Timers, keepsTimers = false) {
    this.#clock = clock;
    this.#timers = timers;
    this.#keepsTimers = keepsTimers;
  }

  /** Calls `onDue` in `lengthMs`, unless the entry is removed first. @param entry must be in no bucket */
  add(entry: TimerEntry, lengthMs: number): void {
    let bucket = this.#buckets.get(lengthMs);
    if (bucket === undefined) {
      bucket = new TimerBucket(lengthMs);
      this.#buckets.set(lengthMs, bucket);
      this.#arm(bucket, lengthMs);
    }
    entry.dueAtMs = this.#clock.monotonicMs() + lengthMs;
    entry.bucket = bucket;
    entry.before = bucket.last;
    if (bucket.last === undefined) bucket.first = entry;
    else bucket.last.behind = entry;
    bucket.last = entry;
  }

  /** Does nothing for an entry in no bucket. */
  remove(entry: TimerEntry): void {
    const { before, behind, bucket } = entry;
    if (bucket === undefined) return;
    if (before === undefined) bucket.first = behind;
    else before.behind = behind;
    if (behind === undefined) bucket.last = before;
    else behind.before = before;
    entry.bucket = undefined;
    entry.before = undefined;
    entry.behind = undefined;
    if (bucket.first !== undefined || this.#keepsTimers) return;
    bucket.cancelTimer();
    this.#buckets.delete(bucket.lengthMs);
  }

  /** Ends all remaining entries before they are due. */
  close(): void {
    for (const bucket of [...this.#buckets.values()]) {
      bucket.cancelTimer();
      this.#buckets.delete(bucket.lengthMs);
      for (let { first } = bucket; first !== undefined; first = bucket.first) {
        this.remove(first);
        first.onDue();
      }
    }
  }

  #arm(bucket: TimerBucket, delayMs: number): void {
    bucket.cancelTimer = this.#timers.after(Math.ceil(delayMs), () => this.#endDue(bucket));
  }

  /** Ends the due entries, at most ENDED_COUNT_MAX a turn, and sets the timer for the next one. */
  #endDue(bucket: TimerBucket): void {
    for (let endedCount = 0; bucket.first !== undefined; endedCount++) {
      const { first } = bucket;
      const leftMs = first.dueAtMs - this.#clock.monotonicMs();
      if (leftMs > 0 || endedCount === ENDED_COUNT_MAX) {
        this.#arm(bucket, Math.max(leftMs, 0));
        return;
      }
      this.remove(first);
      first.onDue();
    }
    if (this.#keepsTimers) this.#buckets.delete(bucket.lengthMs);
  }
}
