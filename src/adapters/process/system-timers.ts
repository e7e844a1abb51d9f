/** Timers of the runtime, unreferenced so that background work never delays the exit of the process. */
import type { Timers } from '../../base/timers.ts';

/** The runtimes fire a timer of a longer delay after a millisecond. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export const systemTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, DELAY_MS_MAX));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Timers that keep the process alive, for a command whose work is to wait. */
export const awakeTimers: Timers = {
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, DELAY_MS_MAX));
    return () => clearTimeout(timer);
  },
};
