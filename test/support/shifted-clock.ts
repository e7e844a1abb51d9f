/** The machine's clock, which a test can set ahead, for lifetimes longer than a test. */
import type { Clock } from '../../src/base/clock.ts';

export class ShiftedClock implements Clock {
  aheadMs = 0;

  nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  monotonicMs(): number {
    return performance.now() + this.aheadMs;
  }

  /** The time that many seconds from now, in seconds since 1970, as in the fields of an authorization. */
  secondsAhead(seconds: number): string {
    return String(Math.floor(this.nowMs() / 1000) + seconds);
  }
}
