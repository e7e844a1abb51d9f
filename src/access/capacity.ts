/**
 * Capacity for a callback, claimed before its creation is paid for (decisions §5; reliability 126, 127): a full server answers
 * 503 and makes no offer. The claim becomes the callback's once the payment has settled, or is given back.
 */
import type { CallbackCapacity } from '../callback/callbacks.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, RETRY_AFTER, type Refusal, refuse } from '../http/errors.ts';

export const { CALLBACK_CAPACITY_EXCEEDED } = defineErrors({
  CALLBACK_CAPACITY_EXCEEDED: { status: 503, headers: RETRY_AFTER },
});

/** What a module whose operations create callbacks has among its services. */
export interface CapacityServices {
  readonly callbacks: { readonly capacity: CallbackCapacity };
}

/** Callbacks end all the time; a full server is worth asking again this soon. */
const RETRY_AFTER_SECONDS = '30';

export const callbackCapacity: Access<object, CapacityServices> = {
  errors: [CALLBACK_CAPACITY_EXCEEDED],
  documentation: {},
  open({ callbacks: { capacity } }) {
    const claim: Admission = { release: () => capacity.release() };
    const decisionOf = (isClaimed: boolean): Admission | Refusal => {
      if (isClaimed) return claim;
      return refuse(CALLBACK_CAPACITY_EXCEEDED, 'this server has no capacity for another callback at the moment', {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      });
    };
    return {
      admit() {
        const isClaimed = capacity.tryClaim();
        return isClaimed instanceof Promise ? isClaimed.then(decisionOf) : decisionOf(isClaimed);
      },
    };
  },
};
