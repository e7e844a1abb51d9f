/**
 * Capacity for a new callback (decisions §5; reliability 126, 127), in two ways in: one before the payment and one after it. A
 * full server answers 503 and makes no offer; a claim is made only for a payment that is verified and reserved, so forged
 * payments hold no capacity. A claim that fails releases the authorization. When the payment settles, the new callback commits
 * the claim; otherwise the admitter releases it.
 */
import { chain } from '../base/maybe-promise.ts';
import type { CallbackCapacity } from '../callback/callbacks.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, RETRY_AFTER, type Refusal, refuse, retryAfter, STATE_UNAVAILABLE } from '../http/errors.ts';

export const { CALLBACK_CAPACITY_EXCEEDED } = defineErrors({
  CALLBACK_CAPACITY_EXCEEDED: { status: 503, headers: RETRY_AFTER },
});

/** The services that a module needs for operations that create callbacks. */
export interface CapacityServices {
  readonly callbacks: { readonly capacity: CallbackCapacity };
}

/** Callbacks live ten minutes, so a full server probably has capacity again after this time. */
const RETRY_AFTER_SECONDS = 30;

const exceeded = (): Refusal =>
  refuse(CALLBACK_CAPACITY_EXCEEDED, 'this server has no capacity for another callback now; try again later', {
    headers: retryAfter(RETRY_AFTER_SECONDS),
  });

/** Stands before the payment: passes while there is capacity, and holds none. */
export const freeCapacity: Access<object, CapacityServices> = {
  errors: [CALLBACK_CAPACITY_EXCEEDED, STATE_UNAVAILABLE],
  documentation: {},
  open({ callbacks: { capacity } }) {
    const decisionOf = (isFree: boolean): Refusal | undefined => (isFree ? undefined : exceeded());
    return {
      admit: () => chain(capacity.isFree(), decisionOf),
    };
  },
};

/** Stands after the payment: claims the capacity of one callback. */
export const capacityClaim: Access<object, CapacityServices> = {
  errors: [CALLBACK_CAPACITY_EXCEEDED, STATE_UNAVAILABLE],
  documentation: {},
  open({ callbacks: { capacity } }) {
    const claim: Admission = { release: () => capacity.release() };
    const decisionOf = (isClaimed: boolean): Admission | Refusal => (isClaimed ? claim : exceeded());
    return {
      admit: () => chain(capacity.tryClaim(), decisionOf),
    };
  },
};
