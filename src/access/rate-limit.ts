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
 * Bytes that windows may come to hold: 8 a permitted pass, so 10,000 addresses at the default limit of 600. The address that
 * is forgotten is the one seen longest ago: it costs a customer nothing, and somebody with thousands of addresses is not
 * stopped by a limit per address anyway.
 */
const WINDOW_BYTES_MAX = 48_000_000;
const PASS_BYTES = 8;
const ADDRESS_COUNT_MAX = 10_000;

export function callerRateGate(limitPerMinute: number, clock: Clock): Gate {
  if (limitPerMinute === 0) return { admit: () => undefined };
  const busyCountMax = Math.floor(WINDOW_BYTES_MAX / (PASS_BYTES * limitPerMinute));
  const windows = new LRUCache<string, RateWindow>({ max: Math.min(ADDRESS_COUNT_MAX, busyCountMax) });
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
