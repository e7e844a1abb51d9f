/** Timers of the runtime. Unreferenced: background work never holds up an exit. */
import type { Timers } from '../../base/timers.ts';

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
