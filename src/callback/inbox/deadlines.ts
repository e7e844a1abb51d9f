/**
 * Timeouts of waits. Waits of one length end in the order in which they began, so each length has a bucket: a linked list with
 * one timer for its first entry. The contract permits thirty lengths. A timer for each of 10,000 waits would be a noticeable
 * share of the memory of a parked request (bench/waits.ts).
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { SWEEP_COUNT_MAX } from '../limits.ts';

/** An entry of a bucket; it carries its own links. */
export abstract class TimerEntry {
  /** Monotonic, milliseconds. */
  dueAtMs = 0;
  bucket: TimerBucket | undefined;
  before: TimerEntry | undefined;
  behind: TimerEntry | undefined;

  /** Called when its timeout is over and it is out of its bucket. */
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
  /** By length in milliseconds; no bucket is empty. */
  readonly #buckets = new Map<number, TimerBucket>();

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Calls `onDue` in `lengthMs`, unless the entry is removed first. @param entry must be in no bucket */
  add(entry: TimerEntry, lengthMs: number): void {
    let bucket = this.#buckets.get(lengthMs);
    if (bucket === undefined) {
      bucket = new TimerBucket(lengthMs);
      this.#buckets.set(lengthMs, bucket);
    }
    entry.dueAtMs = this.#clock.monotonicMs() + lengthMs;
    entry.bucket = bucket;
    entry.before = bucket.last;
    if (bucket.last === undefined) {
      bucket.first = entry;
      this.#arm(bucket, lengthMs);
    } else bucket.last.behind = entry;
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
    if (bucket.first !== undefined) return;
    bucket.cancelTimer();
    this.#buckets.delete(bucket.lengthMs);
  }

  #arm(bucket: TimerBucket, delayMs: number): void {
    bucket.cancelTimer = this.#timers.after(Math.ceil(delayMs), () => this.#endDue(bucket));
  }

  /** Ends the due entries, at most SWEEP_COUNT_MAX a turn, and sets the timer for the next one. */
  #endDue(bucket: TimerBucket): void {
    for (let endedCount = 0; bucket.first !== undefined; endedCount++) {
      const { first } = bucket;
      const leftMs = first.dueAtMs - this.#clock.monotonicMs();
      if (leftMs > 0 || endedCount === SWEEP_COUNT_MAX) {
        this.#arm(bucket, Math.max(leftMs, 0));
        return;
      }
      this.remove(first);
      first.onDue();
    }
  }
}
