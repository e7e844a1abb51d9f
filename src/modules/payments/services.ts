/** The services of the payment operations' handlers. */
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';
import type { ReservationStatus } from '../../payment/reservations.ts';

export interface PaymentServices {
  /** undefined for an unknown payment. */
  statusOf(key: ReservationKey): MaybePromise<ReservationStatus | undefined>;
}
