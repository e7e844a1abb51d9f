/** The machine's clock, which a test puts ahead: for servers whose lifetimes are longer than a test. */
import type { Clock } from '../../src/base/clock.ts';

export class ShiftedClock implements Clock {
  aheadMs = 0;

  nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  monotonicMs(): number {
    return performance.now() + this.aheadMs;
  }

  /** That number of seconds from now, in seconds since 1970, as the fields of an authorization have it. */
  secondsAhead(seconds: number): string {
    return String(Math.floor(this.nowMs() / 1000) + seconds);
  }
}
