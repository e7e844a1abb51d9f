/**
 * Limits how often one payer or key can end without a charge (siblings §5). Each request that passed its payment or key and
 * ended uncharged counts, whatever the reason, because it cost a look-up or a verification. Stands after the payment and the
 * key.
 */
import { MINUTE_MS } from '../base/durations.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { RateLimiter, RateLimits } from '../base/rate-limits.ts';
import type { Access, Admission } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED, type Refusal, rateLimited } from '../http/errors.ts';
import type { Requester } from './requester.ts';

/** Uncharged outcomes of one payer or key in any minute. */
const UNCHARGED_COUNT_MAX = 30;

/** The services that a module needs for operations with this limit. */
export interface UnchargedServices {
  readonly uncharged: RateLimiter;
}

export const openUncharged = (rateLimits: RateLimits, product: string): RateLimiter =>
  rateLimits.open(`uncharged ${product}`, UNCHARGED_COUNT_MAX, MINUTE_MS);

const refused = (waitMs: number): Refusal =>
  rateLimited(`at most ${UNCHARGED_COUNT_MAX} requests a minute that end without a charge`, waitMs);

export const fewUncharged: Access<object, UnchargedServices, Requester> = {
  errors: [RATE_LIMIT_EXCEEDED],
  documentation: {},
  open: ({ uncharged }) => ({
    admit(_, requester): MaybePromise<Admission | Refusal> {
      const key = 'keyId' in requester ? requester.keyId : requester.payer;
      return chain(uncharged.peek(key), (waitMs) =>
        waitMs > 0
          ? refused(waitMs)
          : {
              release: () => chain(uncharged.tryPass(key), () => {}),
            },
      );
    },
  }),
};
