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
 * - Once a checkout knows the signer, it awaits `reserve` before anything else. Until then it holds nothing. It relies on no
 *   check made before an await: when `reserve` answers later, it compares `validBefore` with the clock again.
 * - A key that is reserved, settling, unknown, settled or dead is never handed out again before RETENTION_SECONDS after its
 *   `validBefore`, whatever the load. A full store refuses; it evicts nothing.
 * - A key becomes free again only when it is certain that no money moved and that no process will still ask for any.
 * - A purchase's payment identifiers are claimed in the same step as the key, all or none, each by one purchase at a time.
 *   While the purchase is in flight, nothing else is reserved under them; after its settlement each of them gives its kept
 *   answer for {@link KEPT_MS}; if it ends as dead, they stay under way for as long, because the money may have moved; if it
 *   ends uncharged, they are free again. The answers are on record with the intent.
 */
import { MINUTE_MS } from '../base/durations.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { MIB } from '../base/sizes.ts';
import type { SaleFacts } from './books.ts';
import type { IdentifierClaim } from './protocol/identifier.ts';
import type { PaymentOrder, ReservationKey } from './protocol/order.ts';

/** A used authorization is kept this long after its `validBefore`, in seconds (x402-v2 §6.3). */
export const RETENTION_SECONDS = 600;
/**
 * A start removes only authorizations whose `validBefore` is this long past, in seconds: a machine whose hardware clock runs
 * in local time starts up to fourteen hours ahead and is set back a moment later.
 */
export const START_RETENTION_SECONDS = RETENTION_SECONDS + 14 * 3600;

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
  /** Serial of the reservation, and of the sale that it becomes. */
  readonly serial: number;
  readonly validBeforeSeconds: number;
  /**
   * True: taken over from another process, which may have stalled between its last check of the lease and sending its
   * settlement. That one can still move the money, whatever refusals this process gets.
   */
  readonly isTakenOver: boolean;
  /** True: on record that a repeat of its settlement was refused, which frees nothing. */
  readonly isRefused: boolean;
}

/** Milliseconds for which an identifier is kept after its purchase has settled (decisions §4) or ended as dead. */
export const KEPT_MS = 10 * MINUTE_MS;
/**
 * Longest sealed answer, bytes. The longest is an answer of changes over a catalogue whose texts are as long as native input
 * permits: ten jobs of 6,200 characters and an address, and ten closed ones of 2,200. A character may take seven bytes,
 * escaped as JSON within JSON; one of an address takes four.
 */
export const ANSWER_BYTES_MAX = MIB;
/**
 * Bytes that an identifier claims of the memory for kept answers until its answer is known; nearly all answers are shorter. A
 * longer answer does not replace its draft, so a long resolve stays a draft.
 */
export const ANSWER_BYTES_CLAIMED = 196_608;

/** A sealed answer that the store keeps. */
export interface KeptAnswer {
  /** Serial of the sale. */
  readonly serial: number;
  /** Digest of its identifier, as in the claim. */
  readonly digest: string;
  readonly transaction: string;
}

/** What is known of an identifier that is not free. `place`: its index among the claims. */
export type KnownIdentifier =
  /** The same purchase has settled under it. */
  | { readonly kind: 'kept'; readonly place: number; readonly kept: KeptAnswer }
  /** The same purchase is in flight under it, or its outcome is not known. */
  | { readonly kind: 'under-way' }
  /** It belongs to another purchase. */
  | { readonly kind: 'conflict'; readonly place: number };

/** Why a purchase reserves nothing, however much room the store has. */
export type Known = { readonly kind: 'taken'; readonly status: ReservationStatus } | KnownIdentifier;

export type Reserved =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | Known
  /** The store cannot keep the answer of another identifier. */
  | { readonly kind: 'no-room' }
  /** The store holds as many live authorizations as it can. */
  | { readonly kind: 'full' }
  /** The store cannot record anything now, or cannot tell whether this authorization was used before. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** The claims of an unnamed purchase. */
export const NO_CLAIMS: readonly IdentifierClaim[] = [];

/** A settlement whose outcome is not on record: its reservation is unknown. */
export interface UnsettledCase {
  readonly reservation: Reservation;
  readonly order: PaymentOrder;
}

/**
 * {@link Reservations.find}, {@link Reservations.statusOf} and {@link Reservations.readKept} reject with an
 * `OutageError` while the state cannot be read; `reserve` then returns `unavailable`.
 *
 * The recording methods resolve once the record will survive whatever the store promises to survive. They reject when the
 * store could not make it; the key then keeps its status, except that an intent in doubt stays settling. A transition that
 * the diagram does not have is a bug in the caller: the store throws or rejects.
 */
export interface Reservations {
  /** Why the store cannot record anything now, for the log; undefined = it can. The caller asks before every offer. */
  fault(): string | undefined;
  /** Live authorizations: all keys that are not free. */
  readonly count: number;
  /**
   * One indivisible step: reserves the key and the identifiers if all are free, otherwise returns what is known: first of a
   * used key, then of the identifiers in their order.
   */
  reserve(key: ReservationKey, validBeforeSeconds: number, claims: readonly IdentifierClaim[]): MaybePromise<Reserved>;
  /** What {@link reserve} would return, without reserving; undefined = all are free. */
  find(key: ReservationKey, claims: readonly IdentifierClaim[]): MaybePromise<Known | undefined>;
  /** undefined = the key is free. */
  statusOf(key: ReservationKey): MaybePromise<ReservationStatus | undefined>;
  /** reserved -> free. */
  release(reservation: Reservation): MaybePromise<void>;
  /**
   * reserved -> settling: the intent. Must resolve before the caller asks the settlement to move money.
   * @param sale what the books will record about the request if the payment settles
   * @param sealed the answer for each of its identifiers, in their order; each at most {@link ANSWER_BYTES_MAX}
   */
  recordIntent(
    reservation: Reservation,
    order: PaymentOrder,
    sale: SaleFacts,
    sealed?: readonly Uint8Array[],
  ): Promise<void>;
  /**
   * settling or unknown -> settled. The sale is in the books with the same commit. In a store that several processes share
   * also by a process that learned an outcome the others did not: of a key that is dead, or free again after its retention.
   */
  recordSettled(reservation: Reservation, transaction: string): Promise<void>;
  /** settling or unknown -> unknown; '' leaves a known hash as it is. @param isRefused true: remembered from now on */
  recordUnknown(reservation: Reservation, transaction: string, isRefused?: boolean): Promise<void>;
  /** settling or unknown -> free: it is certain that no money moved. */
  recordReleased(reservation: Reservation): Promise<void>;
  /** unknown -> dead. */
  recordDead(reservation: Reservation): Promise<void>;
  /**
   * False: this process did not renew its lease in time, and another has taken over or ended this unsettled case, so this one
   * must not ask about it any more. Rejects when the store cannot be read now.
   */
  isHeld(reservation: Reservation): MaybePromise<boolean>;
  /** The sealed answer; undefined when its time has just ended. */
  readKept(kept: KeptAnswer): Promise<Uint8Array | undefined>;
  /** Replaces a draft by its sealed answer, at most {@link ANSWER_BYTES_MAX}; does nothing once its time has ended. */
  replaceKept(kept: Omit<KeptAnswer, 'transaction'>, sealed: Uint8Array): Promise<void>;
  /**
   * Hands over, each once, the cases whose process has ended, so that this process reconciles them: existing ones before it
   * resolves, and in a store that several processes share, later ones as they are found. A case begun with another kind of
   * settlement is left out and stays unknown.
   */
  handOver(receive: (unsettled: UnsettledCase) => void): MaybePromise<void>;
}
