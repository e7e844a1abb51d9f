/** What the payment operations are given. */
import type { MaybePromise } from '../../base/maybe-promise.ts';

export interface PaymentServices {
  /** CAIP-2 name of the one network of this server. */
  readonly network: string;
  /**
   * What became of an authorization, or undefined when it is not known here.
   * @param payer 0x and 40 hex digits, any case; @param nonce 0x and 64 hex digits, any case
   */
  find(payer: string, nonce: string): MaybePromise<PaymentFound | undefined>;
}

export interface PaymentFound {
  /** With its checksum. */
  readonly payer: string;
  readonly state: PaymentState;
  /** Transaction hash; null = none is known. */
  readonly transaction: string | null;
}

export const PAYMENT_STATES = ['reserved', 'settling', 'unknown', 'settled', 'dead'] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];
