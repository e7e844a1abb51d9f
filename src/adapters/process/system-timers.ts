/** Timers of the runtime, unreferenced so that background work never delays the exit of the process. */
import type { Timers } from '../../base/timers.ts';

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Timers that keep the process alive, for a command whose work is to wait. */
export const awakeTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
