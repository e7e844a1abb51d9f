/** What an app runs on, with the system's clock, randomness and timers where a test or a bench gives none of its own. */
import { RUNTIME_BODIES } from '../../src/adapters/process/runtime-bodies.ts';
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import type { AppPorts } from '../../src/app/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';

/** @param ports at least who hears of bugs */
export const appPorts = (ports: Partial<AppPorts> & Pick<AppPorts, 'onFailure'>): AppPorts => ({
  clock: systemClock,
  random: systemRandom,
  timers: systemTimers,
  startsAtOnce: false,
  ...RUNTIME_BODIES,
  onRequest: undefined,
  onCaseReport: () => {},
  ...ports,
});
