/**
 * GET /v1/payments/{network}/{payer}/{nonce}: the status of an authorization, free. Only the payer and this server know its
 * nonce (256 random bits) before settlement. The answer has state and transaction, and nothing about the purchase.
 */
import * as v from 'valibot';
import { chain } from '../../base/maybe-promise.ts';
import { defineErrors, Refusal, refuse, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { checksummed, findNetwork, type NetworkId } from '../../payment/protocol/network.ts';
import { fromBooks } from '../from-books.ts';
import type { PaymentServices } from './services.ts';

export const { PAYMENT_NOT_FOUND } = defineErrors({
  PAYMENT_NOT_FOUND: { status: 404 },
});

const UNKNOWN_PAYMENT = refuse(PAYMENT_NOT_FOUND, 'this server knows no such payment');

const PAYMENT_STATES = ['reserved', 'settling', 'unknown', 'settled', 'dead'] as const;

const PAYER_FORM = /^0x[0-9a-fA-F]{40}$/;
const NONCE_FORM = /^0x[0-9a-fA-F]{64}$/;

/** Values for the examples, all but the network invented. */
const EXAMPLE_NETWORK: NetworkId = 'eip155:8453';
const PAYER = `0x${'5a'.repeat(20)}`;
const NONCE = `0x${'3c'.repeat(32)}`;
const TRANSACTION = `0x${'9e'.repeat(32)}`;

/** A path parameter as text; the empty string for malformed escapes, which matches no payment. */
function decoded(segment = ''): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

export const paymentStatus = route<PaymentServices>()({
  operation: 'paymentStatus',
  method: 'GET',
  path: '/v1/payments/:network/:payer/:nonce',
  summary: 'Status of a payment authorization',
  description: 'The payer finds it by the nonce. The answer does not state what was bought.',
  access: [],
  params: {
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(PAYER_FORM)),
    nonce: v.pipe(v.string(), v.regex(NONCE_FORM)),
  },
  examples: {
    params: { network: EXAMPLE_NETWORK, payer: PAYER, nonce: NONCE },
    answer: { network: EXAMPLE_NETWORK, payer: PAYER, nonce: NONCE, state: 'settled', transaction: TRANSACTION },
  },
  answer: v.strictObject({
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(PAYER_FORM)),
    nonce: v.pipe(v.string(), v.regex(NONCE_FORM)),
    state: v.picklist(PAYMENT_STATES),
    transaction: v.nullable(v.pipe(v.string(), v.regex(NONCE_FORM))),
  }),
  errors: [PAYMENT_NOT_FOUND, STATE_UNAVAILABLE],
  handle(_, services, { params }) {
    const payer = decoded(params.payer);
    const nonce = decoded(params.nonce);
    // Of another network than this server sells on now: what it sold there before is on record too.
    const network = findNetwork(decoded(params.network));
    const isNamed = PAYER_FORM.test(payer) && NONCE_FORM.test(nonce);
    if (network === undefined || !isNamed) return UNKNOWN_PAYMENT;
    // What the reservations have forgotten stands in the books.
    return chain(
      fromBooks(() => services.statusOf(network, payer, nonce)),
      (status) => {
        if (status instanceof Refusal) return status;
        if (status === undefined) return UNKNOWN_PAYMENT;
        const transaction = 'transaction' in status && status.transaction !== '' ? status.transaction : null;
        return {
          network: network.id,
          payer: checksummed(payer.toLowerCase()),
          nonce: nonce.toLowerCase(),
          state: status.kind,
          transaction,
        };
      },
    );
  },
});
