/**
 * Takes one payment for one answer: x402 v2, `exact`, EIP-3009 (decisions §4, x402-v2 §6). Results are plain values;
 * the way in decides how to tell the client, and in which headers.
 *
 *   begin    compare with the offer   invalid
 *            wait for a recovery      crowded, unavailable; nothing was done
 *            compare the signer       invalid
 *            settlement reachable     used, unavailable
 *            reserve                  used, unavailable; kept, under-way, conflict, no-room
 *            ask the settlement       invalid, unavailable; the authorization is free again
 *   settle   record the intent        unavailable, pending
 *            move the money           refused, unavailable, pending
 *            record the outcome       settled, pending
 *
 * Invariants: a payment that was not verified reserves nothing and learns nothing; the reservation is the first thing
 * awaited after the signature; an authorization whose settlement may have happened never becomes free; what a stranger can
 * cause for nothing (a recovery, a question to the facilitator) is bounded, and shared fairly among clients.
 */

import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { Random } from '../base/random.ts';
import type { SaleFacts } from './books.ts';
import {
  type Authorization,
  authorizationStruct,
  checkPayment,
  runwayFault,
  signerFault,
} from './protocol/authorization.ts';
import { fault, type PaymentFault, type PaymentPayload } from './protocol/envelope.ts';
import { identifierClaim, type PaymentIdentifier } from './protocol/identifier.ts';
import type { Address } from './protocol/network.ts';
import { type PaymentOrder, paymentOrder } from './protocol/order.ts';
import { reasonOf } from './protocol/reasons.ts';
import type { Offer } from './protocol/requirements.ts';
import type { Begun, NamedPurchase, PayingClient, Purchase, Settled } from './purchase.ts';
import {
  type KeptAnswer,
  type Known,
  RecordInDoubtError,
  type Reservation,
  type Reservations,
  type Reserved,
} from './reservations.ts';
import { openAnswer, sealAnswer } from './sealed-answer.ts';
import type { CaseOutcome, Reconciler } from './settlement/reconciler.ts';
import type { Settlement, SettleOutcome, Unavailable } from './settlement/settlement.ts';
import { ClientShare } from './signature/client-share.ts';
import type { Recovery, RecoveryQueue } from './signature/recovery-queue.ts';
import { SIGNATURE_BYTES } from './signature/signature.ts';

export interface CheckoutParts {
  readonly reservations: Reservations;
  readonly settlement: Settlement;
  readonly reconciler: Reconciler;
  readonly recoveries: RecoveryQueue;
  readonly clock: Clock;
  readonly random: Random;
}

/** Seconds after which a request in flight has ended, or a probe of the facilitator has come round. */
const SOON_SECONDS = 1;

/** A sixteenth of what the facilitator is asked at a time, so that junk leaves room for payments. */
const CONTRACT_WALLET_COUNT_MAX = 16;

const unavailable = (detail: string, retryAfterSeconds?: number): Unavailable => ({
  kind: 'unavailable',
  detail,
  retryAfterSeconds,
});

const CROWDED = { kind: 'crowded' } as const;

const invalid = (found: PaymentFault, detail: string = found.error): Begun => ({
  kind: 'invalid',
  fault: found,
  detail,
});

const notVerified = (reason: string | undefined, detail: string): Begun =>
  invalid(
    fault(
      reasonOf(reason, 'invalid_exact_evm_verification_failed'),
      'The payment did not pass verification; nothing was charged.',
    ),
    detail,
  );

/** What is certain after an outcome, or undefined. */
function endOf(outcome: SettleOutcome): CaseOutcome | undefined {
  switch (outcome.kind) {
    case 'settled':
      return outcome;
    case 'refused':
    case 'unavailable':
      return { kind: 'released', detail: outcome.detail };
    case 'unknown':
      return undefined;
    default:
      return outcome satisfies never;
  }
}

/** A verified order that is still to be reserved. */
interface Wish {
  readonly order: PaymentOrder;
  readonly client: PayingClient;
  readonly named: NamedPurchase | undefined;
}

const purchaseOf = ({ order, client, named }: Wish, reservation: Reservation): Purchase => ({
  order,
  reservation,
  client,
  id: named?.id,
});

export class Checkout {
  readonly #parts: CheckoutParts;
  /** Signatures of contract wallets that the facilitator is being asked about. */
  readonly #contractWallets = new ClientShare(CONTRACT_WALLET_COUNT_MAX);

  constructor(parts: CheckoutParts) {
    this.#parts = parts;
  }

  /** Why no offer should be made now, so that no client signs in vain; undefined = offers go on. */
  offerFault(): Unavailable | undefined {
    const { settlement, reservations } = this.#parts;
    if (settlement.readiness().kind === 'unreachable') {
      return unavailable('no offer while the settlement is unreachable');
    }
    const faultText = reservations.fault();
    return faultText === undefined ? undefined : unavailable(faultText);
  }

  /** Verifies a payment for an offer and reserves its authorization. */
  begin(payment: PaymentPayload, offer: Offer, client: PayingClient, named?: NamedPurchase): MaybePromise<Begun> {
    const { settlement, recoveries, clock } = this.#parts;
    const checked = checkPayment(payment, offer, clock.nowMs());
    if (!checked.ok) return invalid(checked);
    const { authorization, signature } = checked;
    if (signature.length !== SIGNATURE_BYTES) {
      if (settlement.takesContractSignatures) {
        const order = paymentOrder(offer, authorization, signature, payment.echoesBazaar);
        return this.#beginContractWallet({ order, client, named });
      }
      const message = `Signatures of contract wallets are not accepted here; sign with a key (${SIGNATURE_BYTES} bytes).`;
      return invalid(fault('invalid_exact_evm_signature_format', message));
    }
    const recovery = recoveries.recover({
      struct: authorizationStruct(authorization),
      signature,
      client: client.clientAddress(),
      isDisconnected: () => client.isDisconnected(),
    });
    return chain(recovery, (recovered) => {
      const wrong = this.#signerFault(authorization, recovered, client);
      if (wrong !== undefined) return wrong;
      const order = paymentOrder(offer, authorization, signature, payment.echoesBazaar);
      return this.#reserveSigned({ order, client, named });
    });
  }

  /** Gives a purchase up before it was settled. */
  release({ reservation }: Purchase): MaybePromise<void> {
    return this.#parts.reservations.release(reservation);
  }

  /**
   * Moves the money. Rejects only for a bug.
   * @param sale what the books will say about the request
   * @param content what a client that asks again under its identifier gets: kept for ten minutes, sealed
   */
  async settle(purchase: Purchase, sale: SaleFacts, content: () => string): Promise<Settled> {
    const { reservations, reconciler, random } = this.#parts;
    const { order, reservation, client, id } = purchase;
    const { payer } = order;
    if (client.isDisconnected()) {
      await reservations.release(reservation);
      return { kind: 'abandoned' };
    }
    try {
      const sealed = id === undefined ? undefined : sealAnswer(id, content(), random);
      await reservations.recordIntent(reservation, order, sale, sealed);
    } catch (failure) {
      // An intent that may be on record is settled after the next start, so the client must not sign another.
      if (failure instanceof RecordInDoubtError) {
        return { kind: 'pending', payer, transaction: '', detail: messageOf(failure) };
      }
      await reservations.release(reservation);
      return unavailable(`the intent could not be recorded: ${messageOf(failure)}`);
    }
    const outcome = await this.#moveMoney(order);
    try {
      return await this.#record(order, reservation, client, outcome);
    } catch (failure) {
      // The outcome is known but not on record, so nothing may leave: the record is made in the background.
      reconciler.watch(reservation, order, endOf(outcome));
      const transaction = outcome.kind === 'settled' || outcome.kind === 'unknown' ? outcome.transaction : '';
      return {
        kind: 'pending',
        payer,
        transaction,
        detail: `the outcome could not be recorded: ${messageOf(failure)}`,
      };
    }
  }

  /** Puts the finished answer in the place of what was kept with the intent. */
  async keep(id: PaymentIdentifier, sold: Pick<KeptAnswer, 'serial'>, content: string): Promise<void> {
    const { reservations, random } = this.#parts;
    await reservations.replaceKept(sold, sealAnswer(id, content, random));
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
      recoveries.chargeForgery(client.clientAddress());
      return invalid(forged);
    }
    const lapsed = runwayFault(authorization.validBeforeSeconds, clock.nowMs());
    return lapsed === undefined ? undefined : invalid(lapsed);
  }

  /** Reserves before the settlement is asked: the signature has shown that the payer wants this. */
  #reserveSigned(wish: Wish): MaybePromise<Begun> {
    return chain(this.#reserve(wish), (reserved) =>
      'key' in reserved ? this.#verifyReserved(purchaseOf(wish, reserved)) : reserved,
    );
  }

  async #verifyReserved(purchase: Purchase): Promise<Begun> {
    const { settlement, reservations } = this.#parts;
    let verified: Awaited<ReturnType<Settlement['verify']>>;
    try {
      verified = await settlement.verify(purchase.order);
    } catch (failure) {
      await reservations.release(purchase.reservation);
      throw failure;
    }
    if (verified.kind === 'valid') return { kind: 'purchase', purchase };
    await reservations.release(purchase.reservation);
    return verified.kind === 'invalid' ? notVerified(verified.reason, verified.detail) : verified;
  }

  /** A contract wallet's signature, which only the chain can check: reserved once the facilitator has vouched for it. */
  async #beginContractWallet(wish: Wish): Promise<Begun> {
    const { settlement, reservations } = this.#parts;
    const { order, client } = wish;
    // What this server sold for that payer and nonce is public, so a replay needs no proof (decisions §4).
    const known = await reservations.statusOf(order.key);
    if (known !== undefined) return { kind: 'used', status: known, payer: order.payer };
    const readiness = settlement.readiness();
    if (readiness.kind !== 'ready') return unavailable(`the settlement is ${readiness.kind}`, SOON_SECONDS);
    const faultText = reservations.fault();
    if (faultText !== undefined) return unavailable(faultText);
    const giveBack = this.#contractWallets.tryTake(client.clientAddress());
    if (giveBack === undefined) return CROWDED;
    const verified = await settlement.verify(order).finally(giveBack);
    if (verified.kind === 'unavailable') return verified;
    if (verified.kind === 'invalid') {
      // The same authorization may have been sold while the facilitator was asked.
      const isUsed = verified.reason === 'invalid_exact_evm_nonce_already_used';
      const status = isUsed ? await reservations.statusOf(order.key) : undefined;
      if (status !== undefined) return { kind: 'used', status, payer: order.payer };
      return notVerified(verified.reason, verified.detail);
    }
    const reserved = await this.#reserve(wish);
    return 'key' in reserved ? { kind: 'purchase', purchase: purchaseOf(wish, reserved) } : reserved;
  }

  /** Takes the authorization, unless it is used, its answer was sold before, or the settlement is away. */
  #reserve(wish: Wish): MaybePromise<Reservation | Begun> {
    const { settlement, reservations } = this.#parts;
    const { order, named } = wish;
    const claim = named === undefined ? undefined : identifierClaim(named.id, named.question, order.payer);
    const readiness = settlement.readiness();
    if (readiness.kind !== 'ready') {
      return chain(reservations.find(order.key, claim), (known) =>
        known === undefined
          ? unavailable(`the settlement is ${readiness.kind}`, SOON_SECONDS)
          : this.#knownOr(wish, known),
      );
    }
    const reserved = reservations.reserve(order.key, order.authorization.validBeforeSeconds, claim);
    // A store that answered later took time from the authorization's window.
    if (reserved instanceof Promise) return reserved.then((later) => this.#stillInTime(wish, later));
    return this.#reservedOr(wish, reserved);
  }

  async #stillInTime(wish: Wish, reserved: Reserved): Promise<Reservation | Begun> {
    const { reservations, clock } = this.#parts;
    if (reserved.kind !== 'reserved') return this.#reservedOr(wish, reserved);
    const { order } = wish;
    const lapsed = runwayFault(order.authorization.validBeforeSeconds, clock.nowMs());
    if (lapsed === undefined) return reserved.reservation;
    await reservations.release(reserved.reservation);
    return invalid(lapsed);
  }

  #reservedOr(wish: Wish, reserved: Reserved): MaybePromise<Reservation | Begun> {
    switch (reserved.kind) {
      case 'reserved':
        return reserved.reservation;
      case 'no-room':
        return { kind: 'no-room' };
      case 'full':
        return unavailable('the store of reservations is full');
      case 'unavailable':
        return unavailable(reserved.detail);
      default:
        return this.#knownOr(wish, reserved);
    }
  }

  #knownOr({ order, named }: Wish, known: Known): MaybePromise<Begun> {
    switch (known.kind) {
      case 'taken':
        return { kind: 'used', status: known.status, payer: order.payer };
      case 'kept':
        return this.#resell(known.kept, (named as NamedPurchase).id, order.payer);
      case 'under-way':
        return { kind: 'under-way', payer: order.payer };
      case 'conflict':
        return { kind: 'conflict' };
      default:
        return known satisfies never;
    }
  }

  async #resell(kept: KeptAnswer, id: PaymentIdentifier, payer: Address): Promise<Begun> {
    try {
      const sealed = await this.#parts.reservations.readKept(kept);
      if (sealed === undefined) return unavailable('the time of a kept answer has just ended', SOON_SECONDS);
      return { kind: 'resale', resale: { kept, id, payer, content: openAnswer(id, sealed) } };
    } catch (failure) {
      return unavailable(`a kept answer cannot be read: ${messageOf(failure)}`);
    }
  }

  /** The settlement's word as an outcome; a port that throws has broken its promise after money may have moved. */
  async #moveMoney(order: PaymentOrder): Promise<SettleOutcome> {
    try {
      return await this.#parts.settlement.settle(order);
    } catch (failure) {
      return { kind: 'unknown', transaction: '', detail: `settlement threw: ${messageOf(failure)}` };
    }
  }

  /** Rejects when the store cannot record the outcome. */
  async #record(
    order: PaymentOrder,
    reservation: Reservation,
    client: PayingClient,
    outcome: SettleOutcome,
  ): Promise<Settled> {
    const { reservations, reconciler, recoveries } = this.#parts;
    const { payer } = order;
    switch (outcome.kind) {
      case 'settled':
        await reservations.recordSettled(reservation, outcome.transaction);
        recoveries.markPaid(client.clientAddress());
        return { kind: 'settled', payer, transaction: outcome.transaction };
      case 'refused': {
        await reservations.recordReleased(reservation);
        const { transaction, detail } = outcome;
        return {
          kind: 'refused',
          payer,
          reason: reasonOf(outcome.reason, 'invalid_transaction_state'),
          transaction,
          detail,
        };
      }
      case 'unavailable':
        await reservations.recordReleased(reservation);
        return outcome;
      case 'unknown':
        await reservations.recordUnknown(reservation, outcome.transaction);
        reconciler.watch(reservation, order);
        return { kind: 'pending', payer, transaction: outcome.transaction, detail: outcome.detail };
      default:
        return outcome satisfies never;
    }
  }
}
