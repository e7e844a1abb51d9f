/** The system's timers in a tenth of their time, for tests of what asks again after a second. */
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import type { Timers } from '../../src/base/timers.ts';

export const quickTimers: Timers = { after: (delayMs, run) => systemTimers.after(delayMs / 10, run) };
