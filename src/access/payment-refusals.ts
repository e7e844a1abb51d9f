/** The refusals of requests whose payment buys nothing (decisions §4, x402-v2 §6). */
import { OVERLOADED, RATE_LIMIT_EXCEEDED, type Refusal, refuse } from '../http/errors.ts';
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
    headers: { 'retry-after': String(retryAfterSeconds) },
    detail,
  });
}

export const crowded = (): Refusal =>
  refuse(RATE_LIMIT_EXCEEDED, 'too many payments from this client are waiting for verification; nothing was charged', {
    headers: { 'retry-after': String(SOON_SECONDS) },
  });

export function alreadyUsed(network: NetworkId, status: ReservationStatus, payer: Address): Refusal {
  let message = 'This payment authorization is already used; sign a new one for another answer.';
  const headers: Record<string, string> = {};
  switch (status.kind) {
    case 'reserved':
    case 'settling':
      message =
        'Another request is using this payment authorization. Do not sign a new one; send the same payment again.';
      headers['retry-after'] = String(SOON_SECONDS);
      break;
    case 'unknown':
      message = NOT_KNOWN_YET;
      headers['retry-after'] = String(PENDING_SECONDS);
      headers['payment-response'] = failureHeader(network, payer, 'settlement_pending', status.transaction);
      break;
    case 'settled':
      headers['payment-response'] = receiptHeader(network, payer, status.transaction);
      break;
    case 'dead':
      break;
    default:
      status satisfies never;
  }
  return refuse(PAYMENT_ALREADY_USED, message, { headers, detail: status.kind });
}

export function pending(network: NetworkId, { payer, transaction, detail }: Settled & { kind: 'pending' }): Refusal {
  return refuse(SETTLEMENT_PENDING, NOT_KNOWN_YET, {
    headers: {
      'retry-after': String(PENDING_SECONDS),
      'payment-response': failureHeader(network, payer, 'settlement_pending', transaction),
    },
    detail,
  });
}

export const underWay = (network: NetworkId, payer: Address): Refusal =>
  refuse(
    SETTLEMENT_PENDING,
    'The purchase of this identifier or idempotency key is under way, or its outcome is not known. Nothing new was reserved; send the same request again.',
    {
      headers: {
        'retry-after': String(SOON_SECONDS),
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
    {
      headers: { 'retry-after': String(UNAVAILABLE_SECONDS) },
    },
  );
