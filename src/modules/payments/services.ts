/** The services of the payment operations' handlers. */
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Network } from '../../payment/protocol/network.ts';
import type { ReservationStatus } from '../../payment/reservations.ts';

export interface PaymentServices {
  /** By payer (0x and 40 hex digits) and nonce (0x and 64), any case; undefined for an unknown payment. */
  statusOf(network: Network, payer: string, nonce: string): MaybePromise<ReservationStatus | undefined>;
}
