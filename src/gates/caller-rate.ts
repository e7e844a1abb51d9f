/**
 * The usage rate of the jobs routes (jobs-intelligence, 429; decisions §2 `RATE_LIMIT_PER_MINUTE`): requests that passed
 * validation, per client address, in any sliding minute. One gate serves all jobs routes, so that they share the count.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { RateWindow } from '../base/rate-window.ts';
import type { Gate } from '../http/access.ts';
import { refuse } from '../http/errors.ts';

const MINUTE_MS = 60_000;

/**
 * Addresses remembered at a time. A window costs up to 8 bytes a permitted pass (4.8 KB at the default of 600), so this
 * many busy ones are some 50 MB. The one that is forgotten is the one seen longest ago: it costs a customer nothing, and
 * somebody with ten thousand addresses is not stopped by a limit per address anyway.
 */
const ADDRESS_COUNT_MAX = 10_000;

export function callerRateGate(limitPerMinute: number, clock: Clock): Gate {
  if (limitPerMinute === 0) return { admit: () => undefined };
  const windows = new LRUCache<string, RateWindow>({ max: ADDRESS_COUNT_MAX });
  return {
    admit(visit) {
      const address = visit.clientAddress();
      let window = windows.get(address);
      if (window === undefined) {
        window = new RateWindow(limitPerMinute, MINUTE_MS);
        windows.set(address, window);
      }
      const waitMs = window.tryPass(clock.monotonicMs());
      if (waitMs === 0) return undefined;
      return refuse('RATE_LIMIT_EXCEEDED', `at most ${limitPerMinute} requests a minute from one address`, {
        headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
      });
    },
  };
}
