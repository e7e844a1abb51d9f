/**
 * Limits the requests of one client network in any sliding minute (jobs-intelligence "Errors", 429; decisions §2
 * `RATE_LIMIT_PER_MINUTE`, `CALLBACK_LIMIT_PER_MINUTE`). Only requests that passed validation count. The operations of a
 * module that list it share one count.
 */
import { MINUTE_MS } from '../base/durations.ts';
import { chain } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Access, Admitter } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, rateLimited } from '../http/errors.ts';
import type { RequestView } from '../http/request-view.ts';

/** The services that a module needs for operations with a rate limit. */
export interface RatedServices {
  readonly clientRate: ClientRate;
}

/** A request rate by name, which is a client network or an API key. */
export interface ClientRate {
  /** 0 = no limit. */
  readonly limitPerMinute: number;
  readonly limiter: RateLimiter;
}

/** @param name of the counts @param limitPerMinute 0 = no limit */
export const openClientRate = (rateLimits: RateLimits, name: string, limitPerMinute: number): ClientRate => ({
  limitPerMinute,
  limiter: rateLimits.open(name, Math.max(1, limitPerMinute), MINUTE_MS),
});

const OPEN_ADMITTER = { admit: () => undefined };

/**
 * An admitter that admits a limited number of requests a minute with the same name.
 * @param whose ends "at most 600 requests a minute"
 * @param nameOf gives undefined for a request that does not count
 */
export function rateAdmitter<N extends object>(
  { limitPerMinute, limiter }: ClientRate,
  whose: string,
  nameOf: (request: RequestView, principal: N) => string | undefined,
): Admitter<object, N> {
  if (limitPerMinute === 0) return OPEN_ADMITTER;
  const decisionOf = (waitMs: number): Refusal | undefined =>
    waitMs === 0 ? undefined : rateLimited(`at most ${limitPerMinute} requests a minute ${whose}`, waitMs);
  return {
    admit(request, principal) {
      const name = nameOf(request, principal);
      return name === undefined ? undefined : chain(limiter.tryPass(name), decisionOf);
    },
  };
}

/** Admits a limited number of requests a minute from one client network. */
export const perClient: Access<object, RatedServices> = {
  errors: [RATE_LIMIT_EXCEEDED],
  documentation: {},
  open: ({ clientRate }) => rateAdmitter(clientRate, 'from one address', (request) => request.clientNetwork()),
};
