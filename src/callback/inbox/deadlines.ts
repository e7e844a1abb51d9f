/**
 * Ends of waits by the clock. Waits of one length end in the order in which they began, so each length has a line of its own,
 * with one timer for the first in it. The contract knows thirty lengths; a timer for each of 10,000 waits would take a
 * tenth of what a bare runtime's parked request takes on Bun.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { SWEEP_COUNT_MAX } from '../limits.ts';

/** Something that may stand in a line; its place in it is part of it. */
export abstract class TimerEntry {
  /** Monotonic, milliseconds. */
  dueAtMs = 0;
  line: Line | undefined;
  before: TimerEntry | undefined;
  behind: TimerEntry | undefined;

  /** Its time is up; it is in no line any more. */
  abstract onDue(): void;
}

class Line {
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
  /** By length in milliseconds; none is empty. */
  readonly #lines = new Map<number, Line>();

  constructor(clock: Clock, timers: Timers) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** `onDue` is called in `lengthMs`, unless it is removed first. @param timed in no line */
  add(timed: TimerEntry, lengthMs: number): void {
    let line = this.#lines.get(lengthMs);
    if (line === undefined) {
      line = new Line(lengthMs);
      this.#lines.set(lengthMs, line);
    }
    timed.dueAtMs = this.#clock.monotonicMs() + lengthMs;
    timed.line = line;
    timed.before = line.last;
    if (line.last === undefined) {
      line.first = timed;
      this.#arm(line, lengthMs);
    } else line.last.behind = timed;
    line.last = timed;
  }

  /** Does nothing when it is in no line. */
  remove(timed: TimerEntry): void {
    const { before, behind, line } = timed;
    if (line === undefined) return;
    if (before === undefined) line.first = behind;
    else before.behind = behind;
    if (behind === undefined) line.last = before;
    else behind.before = before;
    timed.line = undefined;
    timed.before = undefined;
    timed.behind = undefined;
    if (line.first !== undefined) return;
    line.cancelTimer();
    this.#lines.delete(line.lengthMs);
  }

  #arm(line: Line, delayMs: number): void {
    line.cancelTimer = this.#timers.after(Math.ceil(delayMs), () => this.#endDue(line));
  }

  /** Ends what is due, at most SWEEP_COUNT_MAX a turn, and sets the timer for what comes next. */
  #endDue(line: Line): void {
    for (let endedCount = 0; line.first !== undefined; endedCount++) {
      const { first } = line;
      const leftMs = first.dueAtMs - this.#clock.monotonicMs();
      if (leftMs > 0 || endedCount === SWEEP_COUNT_MAX) {
        this.#arm(line, Math.max(leftMs, 0));
        return;
      }
      this.remove(first);
      first.onDue();
    }
  }
}
