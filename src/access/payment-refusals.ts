/** The refusals of requests whose payment buys nothing (decisions §4, x402-v2 §6). */
import type { HeaderRecord } from '../http/answers.ts';
import { OVERLOADED, RATE_LIMIT_EXCEEDED, type Refusal, refuse, retryAfter } from '../http/errors.ts';
import type { Address, NetworkId } from '../payment/protocol/network.ts';
import { failureHeader, receiptHeader } from '../payment/protocol/order.ts';
import type { Settled } from '../payment/purchase.ts';
import type { ReservationStatus } from '../payment/reservations.ts';
import { SOON_SECONDS, type Unavailable } from '../payment/settlement/settlement.ts';
import {
  PAYMENT_ALREADY_USED,
  PAYMENT_IDENTIFIER_CONFLICT,
  SETTLEMENT_PENDING,
  SETTLEMENT_UNAVAILABLE,
} from './x402-contract.ts';

/** `Retry-After` while the settlement or the state is unavailable, unless the settlement names a time. */
const UNAVAILABLE_SECONDS = 5;
/** The reconciler repeats an unknown settlement after one and after three seconds. */
const PENDING_SECONDS = 5;

const UNREACHABLE = 'This server cannot settle payments now; nothing was charged. Try again later.';

const NOT_KNOWN_YET =
  'It is not known yet whether the payment settled. Do not sign a new one; send the same payment again.';

export function unavailable({ detail, retryAfterSeconds = UNAVAILABLE_SECONDS }: Omit<Unavailable, 'kind'>): Refusal {
  return refuse(SETTLEMENT_UNAVAILABLE, UNREACHABLE, {
    headers: retryAfter(retryAfterSeconds),
    detail,
  });
}

export const crowded = (): Refusal =>
  refuse(RATE_LIMIT_EXCEEDED, 'too many payments from this client are waiting for verification; nothing was charged', {
    headers: retryAfter(SOON_SECONDS),
  });

const USED = 'This payment authorization is already used; sign a new one for another answer.';
const IN_USE =
  'Another request is using this payment authorization. Do not sign a new one; send the same payment again.';

/** The headers while it is not known whether a payment settled. @param transaction '' when no hash is known */
const pendingHeaders = (network: NetworkId, payer: Address, transaction: string): HeaderRecord => ({
  ...retryAfter(PENDING_SECONDS),
  'payment-response': failureHeader(network, payer, 'settlement_pending', transaction),
});

export function alreadyUsed(network: NetworkId, status: ReservationStatus, payer: Address): Refusal {
  const used = (message: string, headers?: HeaderRecord): Refusal =>
    refuse(PAYMENT_ALREADY_USED, message, { headers, detail: status.kind });
  switch (status.kind) {
    case 'reserved':
    case 'settling':
      return used(IN_USE, retryAfter(SOON_SECONDS));
    case 'unknown':
      return used(NOT_KNOWN_YET, pendingHeaders(network, payer, status.transaction));
    case 'settled':
      return used(USED, { 'payment-response': receiptHeader(network, payer, status.transaction) });
    case 'dead':
      return used(USED);
    default:
      return status satisfies never;
  }
}

export const pending = (network: NetworkId, { payer, transaction, detail }: Settled & { kind: 'pending' }): Refusal =>
  refuse(SETTLEMENT_PENDING, NOT_KNOWN_YET, { headers: pendingHeaders(network, payer, transaction), detail });

export const underWay = (network: NetworkId, payer: Address): Refusal =>
  refuse(
    SETTLEMENT_PENDING,
    'The purchase of this identifier or idempotency key is under way, or its outcome is not known. Nothing new was reserved; send the same request again.',
    {
      headers: {
        ...retryAfter(SOON_SECONDS),
        'payment-response': failureHeader(network, payer, 'settlement_pending', ''),
      },
    },
  );

export const conflict = (): Refusal =>
  refuse(
    PAYMENT_IDENTIFIER_CONFLICT,
    'This payment identifier names another purchase; nothing was charged. Use one identifier for one question and payer.',
  );

export const noRoom = (): Refusal =>
  refuse(
    OVERLOADED,
    'no further answer can be kept for a payment identifier or idempotency key now; nothing was charged',
    { headers: retryAfter(UNAVAILABLE_SECONDS) },
  );
