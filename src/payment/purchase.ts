/** What goes into the checkout and what comes out of it: purchases, resales and their outcomes, as plain values. */
import type { PaymentFault } from './protocol/envelope.ts';
import type { PaymentIdentifier } from './protocol/identifier.ts';
import type { Address } from './protocol/network.ts';
import type { PaymentOrder } from './protocol/order.ts';
import type { Reason } from './protocol/reasons.ts';
import type { KeptAnswer, Reservation, ReservationStatus } from './reservations.ts';
import type { Unavailable } from './settlement/settlement.ts';
import type { Turn } from './settlement/settlement-turns.ts';
import type { Closed, PayingClient } from './settlement/verification.ts';

/** A name by which the client asks for the answer of a purchase again (decisions §4). */
export interface PurchaseName {
  readonly id: PaymentIdentifier;
  /** What is asked for under the name, as text. */
  readonly question: string;
  /** True: named by the request's idempotency key, not by a payment identifier. */
  readonly isByKey: boolean;
}

/** An identifier comes before a key (decisions §4); empty for an unnamed purchase. */
export type PurchaseNames = readonly PurchaseName[];

/** A payment that is verified and reserved. It is settled once or released once. */
export interface Purchase {
  readonly order: PaymentOrder;
  readonly reservation: Reservation;
  readonly client: PayingClient;
  /** The names under which its answer is kept. */
  readonly names: PurchaseNames;
  /** Its turn with the settlement, which ends with the purchase; undefined where none is needed. */
  readonly turn: Turn | undefined;
}

/** An answer that was sold before, for the same payer under the same name. */
export interface Resale {
  readonly kept: KeptAnswer;
  /** The name under which it was found. */
  readonly name: PurchaseName;
  /** All names of this request. Those that the purchase had keep its answer. */
  readonly names: PurchaseNames;
  readonly payer: Address;
  /** As it was given to {@link Checkout.settle} or {@link Checkout.keep}. */
  readonly content: string;
}

/** Why a payment is not accepted; nothing was charged, and nothing stays reserved. */
export type Rejected =
  /** `detail` is for the log. */
  | { readonly kind: 'invalid'; readonly fault: PaymentFault; readonly detail: string }
  | { readonly kind: 'used'; readonly status: ReservationStatus; readonly payer: Address }
  /** The purchase of a name is in flight, or its outcome is unknown. */
  | { readonly kind: 'under-way'; readonly payer: Address }
  /** The name belongs to another purchase. */
  | { readonly kind: 'conflict'; readonly name: PurchaseName }
  /** No further answer can be kept. */
  | { readonly kind: 'no-room' }
  /** `crowded`: too many payments of this client wait to be verified, or are being settled. */
  | Closed;

/** The rejection of a payment with a fault. */
export const invalid = (fault: PaymentFault, detail: string = fault.error): Rejected => ({
  kind: 'invalid',
  fault,
  detail,
});

export type Begun =
  | { readonly kind: 'purchase'; readonly purchase: Purchase }
  /** Nothing is reserved or charged: the answer was paid for before. */
  | { readonly kind: 'resale'; readonly resale: Resale }
  | Rejected;

export type Settled =
  | { readonly kind: 'settled'; readonly payer: Address; readonly transaction: string }
  /** Certain: no money moved. */
  | {
      readonly kind: 'refused';
      readonly payer: Address;
      readonly reason: Reason;
      readonly transaction: string;
      readonly detail: string;
    }
  /** Not known yet, or not on record yet; the authorization stays reserved and is reconciled in the background. */
  | { readonly kind: 'pending'; readonly payer: Address; readonly transaction: string; readonly detail: string }
  /** The client disconnected before anything was settled. */
  | { readonly kind: 'abandoned' }
  /** Too little time was left to settle; nothing was charged. */
  | { readonly kind: 'lapsed'; readonly fault: PaymentFault }
  | Unavailable;
