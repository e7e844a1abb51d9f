/**
 * A place for the work of a resolve (siblings §7), in two ways in. The one before the payment makes no offer while no place is
 * free; the one after it claims a place, so forged payments hold none. A request that ends uncharged returns its place, which
 * ends the work.
 */
import type { Access } from '../http/access.ts';
import { defineErrors, RETRY_AFTER, type Refusal, refuse, retryAfter } from '../http/errors.ts';
import { PAYER_WORK_COUNT_MAX } from '../resolve/limits.ts';
import type { ResolveClaim, Resolver } from '../resolve/resolver.ts';
import type { Payer } from './x402.ts';

export const { RESOLVE_CAPACITY_EXCEEDED } = defineErrors({
  RESOLVE_CAPACITY_EXCEEDED: { status: 503, headers: RETRY_AFTER },
});

/** The services that a module needs for operations that resolve. */
export interface ResolvePlaceServices {
  readonly resolver: Pick<Resolver, 'isFree' | 'tryClaim'>;
}

/** The principal of a request that has a place. */
export interface PlaceHolder {
  readonly place: ResolveClaim;
}

/** A work takes a second or two, and 30 at most. */
const RETRY_AFTER_SECONDS = 5;

const exceeded = (message: string): Refusal =>
  refuse(RESOLVE_CAPACITY_EXCEEDED, message, { headers: retryAfter(RETRY_AFTER_SECONDS) });

/** Stands before the payment: passes while a place is free, and claims none. */
export const freePlace: Access<object, ResolvePlaceServices> = {
  errors: [RESOLVE_CAPACITY_EXCEEDED],
  documentation: {},
  open: ({ resolver }) => ({
    admit: () =>
      resolver.isFree() ? undefined : exceeded('this server resolves as many addresses as it can; try again later'),
  }),
};

/** Stands after the payment: claims a place. */
export const placeClaim: Access<PlaceHolder, ResolvePlaceServices, Payer> = {
  errors: [RESOLVE_CAPACITY_EXCEEDED],
  documentation: {},
  open: ({ resolver }) => ({
    admit: (_request, { payer }) => {
      const place = resolver.tryClaim(payer);
      if (place === undefined) {
        return exceeded(
          `there is no place for another resolve now, or the payer has ${PAYER_WORK_COUNT_MAX} under way; nothing was charged`,
        );
      }
      return { principal: { place }, release: () => place.release() };
    },
  }),
};
