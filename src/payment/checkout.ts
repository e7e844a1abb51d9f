/**
 * Takes one payment for one answer: x402 v2, `exact`, EIP-3009 (decisions §4, x402-v2 §6). Results are plain values;
 * the way in decides how to tell the client, and in which headers.
 *
 *   begin    compare with the offer   invalid; used or unavailable where it may have been good
 *            wait for a recovery      crowded, unavailable; nothing was done
 *            compare the signer       invalid
 *            settlement open          used, crowded, unavailable
 *            reserve                  used, unavailable; kept, under-way, conflict, no-room
 *            verify in its turn       invalid, crowded, unavailable; the authorization is free again
 *   settle   (settling.ts)
 *            compare the window       lapsed
 *            record the intent        unavailable, pending
 *            move the money           refused, unavailable, pending
 *            record the outcome       settled, pending
 *
 * Invariants: an unverified payment reserves nothing, and its sender learns nothing; the reservation is the first thing
 * awaited after the signature check; an authorization whose settlement may have happened never becomes free; the work that an
 * unpaid request can cause (a recovery, a call to the facilitator) is bounded, and shared fairly among clients.
 */
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import { OutageError } from '../base/outage.ts';
import type { SaleFacts } from './books.ts';
import {
  type Authorization,
  authorizationStruct,
  checkPayment,
  namesPathOf,
  runwayFault,
  signerFault,
} from './protocol/authorization.ts';
import { fault, type PaymentFault, type PaymentPayload } from './protocol/envelope.ts';
import type { PaymentIdentifier } from './protocol/identifier.ts';
import { checksummed, lowerAddressOf } from './protocol/network.ts';
import { type PaymentOrder, paymentOrder, reservationKeyOf } from './protocol/order.ts';
import { type Reason, reasonOf } from './protocol/reasons.ts';
import type { Offer } from './protocol/requirements.ts';
import { type Begun, invalid, type Purchase, type PurchaseNames, type Resale, type Settled } from './purchase.ts';
import type { KeptAnswer, Reservation, ReservationStatus } from './reservations.ts';
import { type NotReserved, Reserving, type Wish } from './reserving.ts';
import { SOON_SECONDS, type Unavailable, unavailable } from './settlement/settlement.ts';
import type { Turn } from './settlement/settlement-turns.ts';
import {
  CROWDED,
  type Pace,
  type PayingClient,
  Verification,
  type VerificationParts,
  type Verified,
} from './settlement/verification.ts';
import { Settling, type SettlingParts } from './settling.ts';
import type { Recovery } from './signature/recovery-queue.ts';
import { SIGNATURE_BYTES } from './signature/signature.ts';

export type CheckoutParts = VerificationParts & SettlingParts;

function notVerified(verified: Exclude<Verified, { kind: 'valid' }>): Begun {
  if (verified.kind === 'lapsed') return invalid(verified.fault);
  if (verified.kind !== 'invalid') return verified;
  const reason = reasonOf(verified.reason, 'invalid_exact_evm_verification_failed');
  return invalid(fault(reason, 'The payment did not pass verification; nothing was charged.'), verified.detail);
}

const WINDOW_FAULTS: readonly Reason[] = [
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
];
/** Faults of a good payment after a restart with another price, recipient or address; also of one for another route. */
const TERMS_FAULTS: readonly Reason[] = ['invalid_payment_requirements', 'resource_mismatch'];

const isOf = (faults: readonly string[], { error }: PaymentFault): boolean => faults.includes(error);

/** Whether a payment with this fault may have been good for the route. */
const mayHaveBeenGood = (found: PaymentFault, payment: PaymentPayload, offer: Offer): boolean =>
  isOf(WINDOW_FAULTS, found) || (isOf(TERMS_FAULTS, found) && namesPathOf(offer, payment));

/** True while money may still move, or may have moved without our knowing it yet. */
const isOpen = ({ kind }: ReservationStatus): boolean =>
  kind === 'reserved' || kind === 'settling' || kind === 'unknown';

/** Ends the turn of a slow answer early, so that it holds none for seconds; the route bounds such answers itself. */
function purchaseOf({ order, client, names, pace }: Wish, reservation: Reservation, turn: Turn | undefined): Begun {
  const { isSlow = false } = pace;
  if (isSlow) turn?.end();
  return {
    kind: 'purchase',
    purchase: { order, reservation, client, names, turn: isSlow ? undefined : turn },
  };
}

export class Checkout {
  readonly #parts: CheckoutParts;
  readonly #verification: Verification;
  readonly #reserving: Reserving;
  readonly #settling: Settling;

  constructor(parts: CheckoutParts) {
    this.#parts = parts;
    this.#verification = new Verification(parts);
    this.#reserving = new Reserving(parts.reservations, parts.clock);
    this.#settling = new Settling(parts);
  }

  /** Why no offer should be made now, so that no client signs in vain; undefined = offers go on. */
  offerFault(): Unavailable | undefined {
    const { settlement, reservations, recoveries } = this.#parts;
    if (recoveries.isOutOfOrder()) return unavailable('no offer while no signature can be verified');
    if (settlement.readiness().kind === 'unreachable') {
      return unavailable('no offer while the settlement is unreachable');
    }
    const faultText = reservations.fault();
    return faultText === undefined ? undefined : unavailable(faultText);
  }

  /** Verifies a payment for an offer and reserves its authorization. The first name that is already known decides. */
  begin(
    payment: PaymentPayload,
    offer: Offer,
    client: PayingClient,
    names: PurchaseNames,
    pace: Pace,
  ): MaybePromise<Begun> {
    const { settlement, recoveries, clock } = this.#parts;
    const checked = checkPayment(payment, offer, clock.nowMs(), pace.answerSeconds);
    if (!checked.ok)
      return mayHaveBeenGood(checked, payment, offer) ? this.#noLongerGood(checked, payment, offer) : invalid(checked);
    const { authorization, signature } = checked;
    if (signature.length !== SIGNATURE_BYTES) {
      if (settlement.takesContractSignatures) {
        const order = paymentOrder(offer, authorization, signature, payment.echoesBazaar);
        return this.#beginContractWallet({ order, client, names, pace });
      }
      const message = `Signatures of contract wallets are not accepted here; sign with a key (${SIGNATURE_BYTES} bytes).`;
      return invalid(fault('invalid_exact_evm_signature_format', message));
    }
    const recovery = recoveries.recover({
      struct: authorizationStruct(authorization, offer.network),
      signature,
      network: client.clientNetwork(),
      isDisconnected: () => client.isDisconnected(),
    });
    return chain(recovery, (recovered) => {
      const wrong = this.#signerFault(authorization, recovered, client);
      if (wrong !== undefined) return wrong;
      const order = paymentOrder(offer, authorization, signature, payment.echoesBazaar);
      return this.#reserveSigned({ order, client, names, pace });
    });
  }

  /** Gives up a purchase before its settlement. */
  release({ reservation, turn }: Purchase): MaybePromise<void> {
    turn?.end();
    return this.#parts.reservations.release(reservation);
  }

  /** See {@link Settling.settle}. */
  settle(purchase: Purchase, sale: SaleFacts, content: () => string): Promise<Settled> {
    return this.#settling.settle(purchase, sale, content);
  }

  /** See {@link Settling.keep}. */
  keep(id: PaymentIdentifier, sold: Pick<KeptAnswer, 'serial'>, content: string): Promise<void> {
    return this.#settling.keep(id, sold, content);
  }

  /** See {@link Reserving.contentOf}. */
  contentOf(resale: Resale): Promise<string | undefined> {
    return this.#reserving.contentOf(resale);
  }

  /**
   * Decides on a payment that may once have been good. While its outcome is open it stays 409: the 503 told the client to send
   * the same payment again, and a 402 would then invite it to pay twice (decisions §4). If only the terms changed at a
   * restart, a sold payment stays 409 too. While the state has a fault, a 402 would make the client sign again in vain: a
   * clock that differs from the database's takes good windows for bad ones.
   */
  #noLongerGood(found: PaymentFault, { authorization }: PaymentPayload, { network }: Offer): MaybePromise<Begun> {
    const from = lowerAddressOf(authorization.from);
    if (from === undefined) return invalid(found);
    const payer = checksummed(from);
    const key = reservationKeyOf(network, payer, authorization.nonce);
    return chain(this.#usedOr({ key, payer }), (known) => {
      if (!isOf(WINDOW_FAULTS, found)) return known ?? invalid(found);
      const faultText = this.#parts.reservations.fault();
      if (known?.kind === 'used') return isOpen(known.status) || faultText !== undefined ? known : invalid(found);
      if (known !== undefined) return known;
      return faultText === undefined ? invalid(found) : unavailable(faultText);
    });
  }

  /** Why a recovered signature is not this payment's, or undefined. A forgery is charged to its client. */
  #signerFault(authorization: Authorization, recovery: Recovery, client: PayingClient): Begun | undefined {
    const { recoveries, clock } = this.#parts;
    if (recovery.ok === 'rejected') {
      if (recovery.reason === 'client-crowded') return CROWDED;
      return unavailable(`the payment was not verified: ${recovery.reason}`, SOON_SECONDS);
    }
    const forged = signerFault(authorization, recovery);
    if (forged !== undefined) {
      recoveries.chargeForgery(client.clientNetwork());
      return invalid(forged);
    }
    const lapsed = runwayFault(authorization.validBeforeSeconds, clock.nowMs());
    return lapsed === undefined ? undefined : invalid(lapsed);
  }

  /** Reserves before asking the settlement: the signature has proved that the payer wants this. */
  #reserveSigned(wish: Wish): MaybePromise<Begun> {
    return chain(this.#reserving.reserve(wish, this.#verification.closedFor(wish.client)), (reserved) =>
      'key' in reserved ? this.#verifyReserved(wish, reserved) : reserved,
    );
  }

  async #verifyReserved(wish: Wish, reservation: Reservation): Promise<Begun> {
    const { reservations } = this.#parts;
    let verified: Verified;
    try {
      verified = await this.#verification.verify(wish.order, wish.client);
    } catch (failure) {
      await reservations.release(reservation);
      throw failure;
    }
    if (verified.kind === 'valid') return purchaseOf(wish, reservation, verified.turn);
    await reservations.release(reservation);
    return notVerified(verified);
  }

  /** A contract wallet's signature, which only the chain can check: reserved once the facilitator has vouched for it. */
  async #beginContractWallet(wish: Wish): Promise<Begun> {
    const { reservations } = this.#parts;
    const { order, client } = wish;
    // Whether this server sold for this payer and nonce is public, so a replay needs no proof (decisions §4).
    const known = await this.#usedOr(order);
    if (known !== undefined) return known;
    const closed = this.#verification.closedFor(client);
    if (closed !== undefined) return closed;
    const faultText = reservations.fault();
    if (faultText !== undefined) return unavailable(faultText);
    const verified = await this.#verification.verifyContractWallet(order, client);
    if (verified.kind === 'valid') return this.#reserveVerified(wish, verified.turn);
    // The same authorization may have been sold meanwhile; a facilitator may then refuse it for the balance that the sale used up.
    if (verified.kind === 'invalid') {
      const sold = await this.#usedOr(order);
      if (sold !== undefined) return sold;
    }
    return notVerified(verified);
  }

  /** undefined = the authorization is not on record. */
  #usedOr({ key, payer }: Pick<PaymentOrder, 'key' | 'payer'>): MaybePromise<Begun | undefined> {
    const used = (status: ReservationStatus | undefined): Begun | undefined =>
      status && { kind: 'used', status, payer };
    const status = this.#parts.reservations.statusOf(key);
    if (!(status instanceof Promise)) return used(status);
    return status.then(used, (failure: unknown) => {
      if (failure instanceof OutageError) return unavailable(failure.message);
      throw failure;
    });
  }

  async #reserveVerified(wish: Wish, turn: Turn | undefined): Promise<Begun> {
    let reserved: Reservation | NotReserved | undefined;
    try {
      reserved = await this.#reserving.reserve(wish, this.#verification.closed());
    } finally {
      if (reserved === undefined || !('key' in reserved)) turn?.end();
    }
    return 'key' in reserved ? purchaseOf(wish, reserved, turn) : reserved;
  }
}
