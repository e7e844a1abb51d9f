/**
 * The usage rate of the jobs routes (jobs-intelligence, 429; decisions §2 `RATE_LIMIT_PER_MINUTE`): requests that passed
 * validation, per client address, in any sliding minute. One gate serves all jobs routes, so that they share the count.
 */
import { chain } from '../base/maybe-promise.ts';
import type { RateLimits } from '../base/rate-limits.ts';
import type { Gate } from '../http/access.ts';
import { type Refusal, refuse } from '../http/errors.ts';

const MINUTE_MS = 60_000;

export function callerRateGate(limitPerMinute: number, rateLimits: RateLimits): Gate {
  if (limitPerMinute === 0) return { admit: () => undefined };
  const limiter = rateLimits.open(limitPerMinute, MINUTE_MS);
  const refusalOf = (waitMs: number): Refusal | undefined => {
    if (waitMs === 0) return undefined;
    return refuse('RATE_LIMIT_EXCEEDED', `at most ${limitPerMinute} requests a minute from one address`, {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    });
  };
  return { admit: (visit) => chain(limiter.tryPass(visit.clientAddress()), refusalOf) };
}
