/**
 * The way in by payment: x402 v2, `exact`, EIP-3009 (decisions §4, x402-v2 §6). Each request goes through the checks from
 * top to bottom:
 *
 *   admit    no header             402 with the offer, without waiting for anything
 *            decode, compare       402
 *            wait for a recovery   429, 503; nothing was done
 *            compare the signer    402
 *            used already          409
 *            settlement reachable  503
 *            reserve               409, 503
 *            ask the settlement    402, 503; the authorization is free again
 *   settle   record the intent     503
 *            move the money        402, 503
 *            record the outcome    then the receipt
 *
 * Invariants: what was not verified reserves nothing and learns nothing; between the recovered signer and the reservation
 * there is no await; an authorization whose settlement may have happened never becomes free; what a stranger can have done
 * for nothing (a recovery, a question to the facilitator) is bounded, and shared fairly among clients.
 */
import type { Clock } from '../base/clock.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { Gate, Pass, Question, Visit } from '../http/access.ts';
import { type ErrorCode, KeptRefusal, type Refusal, refuse } from '../http/errors.ts';
import {
  type Authorization,
  authorizationStruct,
  checkPayment,
  runwayFault,
  signerFault,
} from '../payment/protocol/authorization.ts';
import { decodePayment, type PaymentFault } from '../payment/protocol/envelope.ts';
import type { Address } from '../payment/protocol/network.ts';
import { failureHeader, type PaymentOrder, paymentOrder, receiptHeader } from '../payment/protocol/order.ts';
import { type ChallengeError, type Reason, reasonOf, V1_NOT_SUPPORTED } from '../payment/protocol/reasons.ts';
import { type Offer, prepareOffer } from '../payment/protocol/requirements.ts';
import {
  RecordInDoubtError,
  type Reservation,
  type ReservationStatus,
  type Reservations,
  type Reserved,
} from '../payment/reservations.ts';
import type { End, Reconciler } from '../payment/settlement/reconciler.ts';
import type { Settlement, SettleOutcome, Unavailable } from '../payment/settlement/settlement.ts';
import { ClientShare } from '../payment/signature/client-share.ts';
import type { Recovery, RecoveryQueue, RecoveryRejected } from '../payment/signature/recovery-queue.ts';
import { SIGNATURE_BYTES } from '../payment/signature/signature.ts';

/** Who sells, and where. */
export interface Seller {
  /** Public origin and path prefix, no trailing slash. */
  readonly baseUrl: string;
  readonly payTo: Address;
  readonly serviceName?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What all paid routes share, built once. */
export interface Till extends Seller {
  readonly reservations: Reservations;
  readonly settlement: Settlement;
  readonly reconciler: Reconciler;
  /** Shared by all routes, as is the next: a bound for each route would be no bound. */
  readonly recoveries: RecoveryQueue;
  /** Contract wallets' signatures that the facilitator is asked about, made with {@link contractShare}. */
  readonly contracts: ClientShare;
  readonly clock: Clock;
}

export interface PaidRoute {
  readonly method: string;
  readonly path: string;
  readonly description: string;
  readonly priceUsdc: string;
  /** `extensions.bazaar` of the offer, or undefined. */
  readonly bazaar: unknown;
}

/** Seconds after which it is worth asking again: a request in flight ends, a probe of the facilitator comes round. */
const SOON_SECONDS = 1;
const UNAVAILABLE_SECONDS = 5;
/** The first repeats of an unknown settlement come after one and three seconds. */
const PENDING_SECONDS = 5;

const UNREACHABLE = 'Payments cannot be settled at the moment; nothing was charged. Try again later.';

/** Under way at a time: a sixteenth of what the facilitator is asked at a time, so that junk leaves room for payments. */
const CONTRACT_COUNT_MAX = 16;

export const contractShare = (): ClientShare => new ClientShare(CONTRACT_COUNT_MAX);

type HeaderPairs = Record<string, string>;

function unavailable(detail: string, retryAfterSeconds: number = UNAVAILABLE_SECONDS): Refusal {
  return refuse('SETTLEMENT_UNAVAILABLE', UNREACHABLE, {
    headers: { 'retry-after': String(retryAfterSeconds) },
    detail,
  });
}

const unavailableBy = (outcome: Unavailable): Refusal => unavailable(outcome.detail, outcome.retryAfterSeconds);

const tooMany = (): Refusal =>
  refuse('RATE_LIMIT_EXCEEDED', 'too many payments of this client wait to be verified; nothing was charged', {
    headers: { 'retry-after': String(SOON_SECONDS) },
  });

function notVerified({ reason }: RecoveryRejected): Refusal {
  if (reason === 'client-crowded') return tooMany();
  return unavailable(`the payment was not verified: ${reason}`, SOON_SECONDS);
}

function alreadyUsed(standing: ReservationStatus, payer: Address): Refusal {
  const message = 'This payment authorization is already reserved or used; sign a new one for another answer.';
  const headers: HeaderPairs = {};
  switch (standing.kind) {
    case 'reserved':
    case 'settling':
      headers['retry-after'] = String(SOON_SECONDS);
      break;
    case 'unknown':
      headers['retry-after'] = String(PENDING_SECONDS);
      headers['payment-response'] = failureHeader(payer, 'settlement_pending', standing.transaction);
      break;
    case 'settled':
      headers['payment-response'] = receiptHeader(payer, standing.transaction);
      break;
    case 'dead':
      break;
    default:
      standing satisfies never;
  }
  return refuse('PAYMENT_ALREADY_USED', message, { headers, detail: standing.kind });
}

/** What is certain after an outcome, or undefined. */
function endOf(outcome: SettleOutcome): End | undefined {
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

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : 'not an error');

/** A listing that names another method sends every client that trusts it to a 405. */
function assertListedMethod(route: PaidRoute): void {
  const { info } = (route.bazaar ?? {}) as { info?: { input?: { method?: unknown } } };
  const listed = info?.input?.method;
  if (listed !== undefined && listed !== route.method) {
    throw new Error(`offer of ${route.path}: listed as ${String(listed)}, served as ${route.method}`);
  }
}

/**
 * What the route asks for.
 * @throws Error when the offer cannot be made as the route declares it; at start, never for a request
 */
export function offerOfRoute(route: PaidRoute, till: Seller): Offer {
  assertListedMethod(route);
  return prepareOffer({
    baseUrl: till.baseUrl,
    path: route.path,
    description: route.description,
    priceUsdc: route.priceUsdc,
    payTo: till.payTo,
    bazaar: route.bazaar,
    serviceName: till.serviceName,
    tags: till.tags,
  });
}

/** @throws Error as `offerOfRoute` does */
export function createX402Gate(route: PaidRoute, till: Till): Gate {
  const { reservations, settlement, reconciler, recoveries, contracts, clock } = till;
  const offer = offerOfRoute(route, till);
  const askMessage = `This answer costs ${route.priceUsdc} USDC; pay as the PAYMENT-REQUIRED header says (x402 v2).`;

  const ask = (
    code: ErrorCode,
    message: string,
    visit: Visit,
    error?: ChallengeError,
    more?: HeaderPairs,
    detail?: string,
  ): Refusal => {
    const { header, members } = offer.challenge(visit.search, error);
    const headers = more === undefined ? { 'payment-required': header } : { 'payment-required': header, ...more };
    return refuse(code, message, { headers, members, detail });
  };

  const invalid = (fault: PaymentFault, visit: Visit, detail?: string): Refusal =>
    ask('PAYMENT_INVALID', fault.message, visit, fault.error, undefined, detail ?? fault.error);

  const { head: askHead } = refuse('PAYMENT_REQUIRED', askMessage);
  const offerFor = (search: string): Refusal => {
    const { header, members } = offer.challenge(search);
    const extras = { headers: { 'payment-required': header }, members };
    return new KeptRefusal('PAYMENT_REQUIRED', askMessage, extras, askHead);
  };

  const unpaid = (visit: Visit, question: Question): Refusal => {
    if (settlement.readiness().kind === 'unreachable')
      return unavailable('no offer while the settlement is unreachable');
    const fault = reservations.fault();
    if (fault !== undefined) return unavailable(fault);
    if (visit.header('x-payment') === null) {
      question.offer ??= offerFor(visit.search);
      return question.offer;
    }
    return ask('PAYMENT_REQUIRED', askMessage, visit, V1_NOT_SUPPORTED);
  };

  const reservationOf = (reserved: Reserved, order: PaymentOrder): Reservation | Refusal => {
    switch (reserved.kind) {
      case 'reserved':
        return reserved.reservation;
      case 'taken':
        return alreadyUsed(reserved.status, order.payer);
      case 'full':
        return unavailable('the store of reservations is full');
      case 'unavailable':
        return unavailable(reserved.detail);
      default:
        return reserved satisfies never;
    }
  };

  /** The end of verification: used, reachable, reserved, in this order. */
  const take = (order: PaymentOrder): MaybePromise<Reservation | Refusal> =>
    chain(reservations.statusOf(order.key), (status) => {
      if (status !== undefined) return alreadyUsed(status, order.payer);
      const readiness = settlement.readiness();
      if (readiness.kind !== 'ready') return unavailable(`the settlement is ${readiness.kind}`, SOON_SECONDS);
      const { key, authorization } = order;
      return chain(reservations.reserve(key, authorization.validBeforeSeconds), (reserved) =>
        reservationOf(reserved, order),
      );
    });

  const notValid = (visit: Visit, reason: string | undefined, detail: string): Refusal =>
    invalid(
      {
        ok: false,
        error: reasonOf(reason, 'invalid_exact_evm_verification_failed'),
        message: 'The payment did not pass verification; nothing was charged.',
      },
      visit,
      detail,
    );

  /** Reserves first: the signature has shown that the payer wants this. */
  const admitSigned = async (visit: Visit, order: PaymentOrder, reservation: Reservation): Promise<Pass | Refusal> => {
    let verified: Awaited<ReturnType<Settlement['verify']>>;
    try {
      verified = await settlement.verify(order);
    } catch (failure) {
      await reservations.release(reservation);
      throw failure;
    }
    if (verified.kind === 'valid') return passOf(visit, order, reservation);
    await reservations.release(reservation);
    return verified.kind === 'invalid' ? notValid(visit, verified.reason, verified.detail) : unavailableBy(verified);
  };

  /** A contract wallet's signature, which only the chain can check: reserves once the facilitator has vouched for it. */
  const admitContract = async (visit: Visit, order: PaymentOrder): Promise<Pass | Refusal> => {
    const readiness = settlement.readiness();
    if (readiness.kind !== 'ready') return unavailable(`the settlement is ${readiness.kind}`, SOON_SECONDS);
    const fault = reservations.fault();
    if (fault !== undefined) return unavailable(fault);
    const giveBack = contracts.tryTake(visit.clientAddress());
    if (giveBack === undefined) return tooMany();
    const verified = await settlement.verify(order).finally(giveBack);
    if (verified.kind === 'unavailable') return unavailableBy(verified);
    if (verified.kind === 'invalid') {
      // A facilitator looks at the nonce after the signature, so this is the payer, back with what was sold already.
      const isUsed = verified.reason === 'invalid_exact_evm_nonce_already_used';
      const standing = isUsed ? await reservations.statusOf(order.key) : undefined;
      if (standing !== undefined) return alreadyUsed(standing, order.payer);
      return notValid(visit, verified.reason, verified.detail);
    }
    const taken = await take(order);
    return 'key' in taken ? passOf(visit, order, taken) : taken;
  };

  const notSettled = (visit: Visit, order: PaymentOrder, outcome: SettleOutcome & { kind: 'refused' }): Refusal => {
    const reason: Reason = reasonOf(outcome.reason, 'invalid_transaction_state');
    return ask(
      'PAYMENT_NOT_SETTLED',
      `The payment was refused at settlement (${reason}); nothing was charged.`,
      visit,
      reason,
      { 'payment-response': failureHeader(order.payer, reason, outcome.transaction) },
      outcome.detail,
    );
  };

  const pending = (order: PaymentOrder, transaction: string, detail: string): Refusal =>
    refuse(
      'SETTLEMENT_PENDING',
      'It is not known yet whether the payment settled. Do not sign a new one; ask again with the same payment.',
      {
        headers: {
          'retry-after': String(PENDING_SECONDS),
          'payment-response': failureHeader(order.payer, 'settlement_pending', transaction),
        },
        detail,
      },
    );

  /** The settlement's word as an outcome; a port that throws has broken its promise after money may have moved. */
  const settled = async (order: PaymentOrder): Promise<SettleOutcome> => {
    try {
      return await settlement.settle(order);
    } catch (failure) {
      return { kind: 'unknown', transaction: '', detail: `settlement threw: ${messageOf(failure)}` };
    }
  };

  /** Rejects when the store cannot record the outcome. */
  const recorded = async (
    visit: Visit,
    order: PaymentOrder,
    reservation: Reservation,
    outcome: SettleOutcome,
  ): Promise<Readonly<Record<string, string>> | Refusal> => {
    switch (outcome.kind) {
      case 'settled':
        await reservations.recordSettled(reservation, outcome.transaction);
        recoveries.markPaid(visit.clientAddress());
        return { 'payment-response': receiptHeader(order.payer, outcome.transaction) };
      case 'refused':
        await reservations.recordReleased(reservation);
        return notSettled(visit, order, outcome);
      case 'unavailable':
        await reservations.recordReleased(reservation);
        return unavailableBy(outcome);
      case 'unknown':
        await reservations.recordUnknown(reservation, outcome.transaction);
        reconciler.watch(reservation, order);
        return pending(order, outcome.transaction, outcome.detail);
      default:
        return outcome satisfies never;
    }
  };

  const settle = async (
    visit: Visit,
    order: PaymentOrder,
    reservation: Reservation,
  ): Promise<Readonly<Record<string, string>> | Refusal> => {
    if (visit.isDisconnected()) {
      await reservations.release(reservation);
      return ask(
        'PAYMENT_NOT_SETTLED',
        'The client went away; nothing was charged.',
        visit,
        undefined,
        {},
        'client gone',
      );
    }
    try {
      await reservations.recordIntent(reservation, order);
    } catch (failure) {
      // An intent that may be on record is settled after the next start, so the client must not sign another.
      if (failure instanceof RecordInDoubtError) return pending(order, '', messageOf(failure));
      await reservations.release(reservation);
      return unavailable(`the intent could not be recorded: ${messageOf(failure)}`);
    }
    const outcome = await settled(order);
    try {
      return await recorded(visit, order, reservation, outcome);
    } catch (failure) {
      // The outcome is known but not on record, so nothing may leave: the record is made in the background.
      reconciler.watch(reservation, order, endOf(outcome));
      const transaction = outcome.kind === 'settled' || outcome.kind === 'unknown' ? outcome.transaction : '';
      return pending(order, transaction, `the outcome could not be recorded: ${messageOf(failure)}`);
    }
  };

  const passOf = (visit: Visit, order: PaymentOrder, reservation: Reservation): Pass => ({
    settle: () => settle(visit, order, reservation),
    release: () => void reservations.release(reservation),
  });

  const orderOf = (authorization: Authorization, signature: Uint8Array, echoesBazaar: boolean): PaymentOrder =>
    paymentOrder(offer, authorization, signature, echoesBazaar);

  /** Synchronous up to the reservation: whoever else holds the same payment finds it taken. */
  const admitRecovered = (
    visit: Visit,
    authorization: Authorization,
    signature: Uint8Array,
    echoesBazaar: boolean,
    recovery: Recovery,
  ): MaybePromise<Pass | Refusal> => {
    if (recovery.ok === 'turned-away') return notVerified(recovery);
    const unsigned = signerFault(authorization, recovery);
    if (unsigned !== undefined) {
      recoveries.chargeForgery(visit.clientAddress());
      return invalid(unsigned, visit);
    }
    const lapsed = runwayFault(authorization.validBeforeSeconds, clock.nowMs());
    if (lapsed !== undefined) return invalid(lapsed, visit);
    const order = orderOf(authorization, signature, echoesBazaar);
    return chain(take(order), (taken) => ('key' in taken ? admitSigned(visit, order, taken) : taken));
  };

  return {
    admit(visit, question) {
      const header = visit.header('payment-signature');
      if (header === null || header === '') return unpaid(visit, question);

      const decoded = decodePayment(header);
      if (!decoded.ok) return invalid(decoded, visit);
      const { payment } = decoded;
      const checked = checkPayment(payment, offer, clock.nowMs());
      if (!checked.ok) return invalid(checked, visit);
      const { authorization, signature } = checked;

      if (signature.length !== SIGNATURE_BYTES) {
        if (settlement.takesContractSignatures) {
          return admitContract(visit, orderOf(authorization, signature, payment.echoesBazaar));
        }
        const message = `Signatures of contract wallets are not accepted here; sign with a key (${SIGNATURE_BYTES} bytes).`;
        return invalid({ ok: false, error: 'invalid_exact_evm_signature_format', message }, visit);
      }
      const recovery = recoveries.recover({
        struct: authorizationStruct(authorization),
        signature,
        client: visit.clientAddress(),
        isDisconnected: () => visit.isDisconnected(),
      });
      const { echoesBazaar } = payment;
      const judge = (recovered: Recovery): MaybePromise<Pass | Refusal> =>
        admitRecovered(visit, authorization, signature, echoesBazaar, recovered);
      return recovery instanceof Promise ? recovery.then(judge) : judge(recovery);
    },
  };
}
