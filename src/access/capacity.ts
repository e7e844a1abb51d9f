/**
 * Claims the capacity for a callback before the client pays for it (decisions §5; reliability 126, 127): a full server answers
 * 503 and makes no offer. When the payment settles, the new callback commits the claim; otherwise the gate releases it.
 */
import { chain } from '../base/maybe-promise.ts';
import type { CallbackCapacity } from '../callback/callbacks.ts';
import type { Access, Admission } from '../http/access.ts';
import { defineErrors, RETRY_AFTER, type Refusal, refuse } from '../http/errors.ts';

export const { CALLBACK_CAPACITY_EXCEEDED } = defineErrors({
  CALLBACK_CAPACITY_EXCEEDED: { status: 503, headers: RETRY_AFTER },
});

/** The services that a module needs for operations that create callbacks. */
export interface CapacityServices {
  readonly callbacks: { readonly capacity: CallbackCapacity };
}

/** Callbacks live ten minutes, so a full server is likely to have capacity again this soon. */
const RETRY_AFTER_SECONDS = '30';

export const callbackCapacity: Access<object, CapacityServices> = {
  errors: [CALLBACK_CAPACITY_EXCEEDED],
  documentation: {},
  open({ callbacks: { capacity } }) {
    const claim: Admission = { release: () => capacity.release() };
    const decisionOf = (isClaimed: boolean): Admission | Refusal => {
      if (isClaimed) return claim;
      return refuse(
        CALLBACK_CAPACITY_EXCEEDED,
        'this server has no capacity for another callback now; try again later',
        {
          headers: { 'retry-after': RETRY_AFTER_SECONDS },
        },
      );
    };
    return {
      admit() {
        return chain(capacity.tryClaim(), decisionOf);
      },
    };
  },
};
