/**
 * Bounds what one payer or key may cause for nothing (siblings §5): requests whose payment was verified, or whose key was accepted,
 * and that end uncharged. Such a request has cost a look-up of a name, or a whole fetch. It stands right after the way in that
 * knows who pays.
 */
import { chain } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Access, Admission } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, refuse, retryAfterMs } from '../http/errors.ts';
import { MINUTE_MS } from './rate-limit.ts';

/** siblings §5: uncharged outcomes of one payer or key in any sliding minute. */
export const UNCHARGED_COUNT_MAX = 30;

/** The services that a module needs for operations with this bound. */
export interface UnchargedServices {
  readonly unchargedRate: RateLimiter;
}

export const openUnchargedRate = (rateLimits: RateLimits): RateLimiter =>
  rateLimits.open(UNCHARGED_COUNT_MAX, MINUTE_MS);

/** Who is charged: the id of a key, or the address of a payer. */
function customerOf(principal: object): string {
  const { keyId, payer } = principal as { readonly keyId?: string; readonly payer?: string };
  const customer = keyId ?? payer;
  if (customer === undefined) throw new Error('the bound on uncharged outcomes stands before the way in that knows who pays');
  return customer;
}

export const unchargedRate: Access<object, UnchargedServices> = {
  errors: [RATE_LIMIT_EXCEEDED],
  documentation: {},
  open: ({ unchargedRate: rate }) => ({
    admit: (_request, principal) => {
      const customer = customerOf(principal);
      return chain(rate.waitMs(customer), (waitMs): Admission | Refusal => {
        if (waitMs === 0) return { release: () => chain(rate.tryPass(customer), () => undefined) };
        return refuse(
          RATE_LIMIT_EXCEEDED,
          `at most ${UNCHARGED_COUNT_MAX} requests of one customer may end uncharged in a minute; nothing was charged`,
          { headers: retryAfterMs(waitMs) },
        );
      });
    },
  }),
};
