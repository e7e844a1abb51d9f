/**
 * The port for reservations of payment authorizations: one authorization buys at most one answer (decisions §4, x402-v2
 * §6.3).
 *
 *   free -> reserved -> settling -> settled | unknown -> settled | dead
 *              |            |                   |
 *              +--- free ---+------- free ------+
 *
 * What every implementation promises:
 *
 * - `reserve` is one indivisible step. Of two concurrent calls for one key, in one process or in several that share a
 *   database, exactly one gets the reservation and the other learns its status.
 * - A checkout awaits `reserve` first of all once it knows the signer. It holds nothing before and relies on nothing that
 *   was checked before an await: after a deferred answer it compares `validBefore` with the clock again.
 * - A key that is reserved, settling, unknown, settled or dead is never handed out again before RETENTION_SECONDS after its
 *   `validBefore`, whatever the load. A full store refuses; it evicts nothing.
 * - A key becomes free again only when it is certain that no money moved.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { SaleFacts } from './books.ts';
import type { PaymentOrder, ReservationKey } from './protocol/order.ts';

/** A used authorization is kept this long after its `validBefore`, in seconds (x402-v2 §6.3). */
export const RETENTION_SECONDS = 600;

/** The status of a key that is not free. */
export type ReservationStatus =
  | { readonly kind: 'reserved' }
  | { readonly kind: 'settling' }
  /** `transaction` is '' when no hash is known. */
  | { readonly kind: 'unknown'; readonly transaction: string }
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Its window ended before its outcome was known; it stays used. */
  | { readonly kind: 'dead'; readonly transaction: string };

/** The right to settle one authorization. The object itself is the right: the store refuses a copy. */
export interface Reservation {
  readonly key: ReservationKey;
  /** Its number, and that of the sale that it becomes. */
  readonly serial: number;
  readonly validBeforeSeconds: number;
}

export type Reserved =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'taken'; readonly status: ReservationStatus }
  /** The store holds as many live authorizations as it can. */
  | { readonly kind: 'full' }
  /** The store cannot record anything now, or cannot tell whether this authorization was used before. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** A settlement whose outcome is not on record: its reservation is unknown. */
export interface UnsettledCase {
  readonly reservation: Reservation;
  readonly order: PaymentOrder;
}

/** The store could not confirm a record, which may exist all the same. After any other rejection it does not exist. */
export class RecordInDoubtError extends Error {
  override readonly name = 'RecordInDoubtError';
}

/**
 * The recording methods resolve once the record will survive whatever the store promises to survive. They reject when the
 * store could not make it; the key then keeps its status, except that an intent in doubt stays settling. A transition that
 * the diagram does not have is a bug in the caller: the store throws or rejects.
 */
export interface Reservations {
  /** Why the store cannot record anything now, for the log; undefined = it can. The caller asks before every offer. */
  fault(): string | undefined;
  /** Live authorizations: all keys that are not free. */
  readonly count: number;
  /** One indivisible step: takes the key if it is free, otherwise says its status. */
  reserve(key: ReservationKey, validBeforeSeconds: number): MaybePromise<Reserved>;
  /** undefined = the key is free. */
  statusOf(key: ReservationKey): MaybePromise<ReservationStatus | undefined>;
  /** reserved -> free. */
  release(reservation: Reservation): MaybePromise<void>;
  /**
   * reserved -> settling: the intent. Must resolve before the caller asks the settlement to move money.
   * @param sale what the books will say about the request, should the payment settle
   */
  recordIntent(reservation: Reservation, order: PaymentOrder, sale: SaleFacts): Promise<void>;
  /** settling or unknown -> settled. The sale is in the books with the same commit. */
  recordSettled(reservation: Reservation, transaction: string): Promise<void>;
  /** settling or unknown -> unknown; '' leaves a known hash as it is. */
  recordUnknown(reservation: Reservation, transaction: string): Promise<void>;
  /** settling or unknown -> free: it is certain that no money moved. */
  recordReleased(reservation: Reservation): Promise<void>;
  /** unknown -> dead. */
  recordDead(reservation: Reservation): Promise<void>;
  /**
   * Hands over once, at start, the cases that an earlier process left for this one to bring to an end. A case begun with
   * another kind of settlement is not among them and stays unknown.
   */
  takeUnsettled(): MaybePromise<readonly UnsettledCase[]>;
}
