/**
 * GET /v1/payments/{network}/{payer}/{nonce}: what became of an authorization, free, for whoever knows its nonce (256 random
 * bits that only the payer and this server have seen before settlement). State and transaction, nothing of what was bought.
 */
import * as v from 'valibot';
import { chain } from '../../base/maybe-promise.ts';
import { refuse } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { PAYMENT_STATES, type PaymentServices } from './services.ts';

const PAYER_FORM = /^0x[0-9a-fA-F]{40}$/;
const NONCE_FORM = /^0x[0-9a-fA-F]{64}$/;

/** Of the examples: made up. */
const NETWORK = 'eip155:8453';
const PAYER = `0x${'5a'.repeat(20)}`;
const NONCE = `0x${'3c'.repeat(32)}`;
const TRANSACTION = `0x${'9e'.repeat(32)}`;

/** A path parameter as text; malformed escapes are text that names nothing. */
function decoded(segment: string | undefined): string {
  try {
    return decodeURIComponent(segment ?? '');
  } catch {
    return '';
  }
}

export const paymentStatus = route<PaymentServices>()({
  operation: 'paymentStatus',
  method: 'GET',
  path: '/v1/payments/:network/:payer/:nonce',
  summary: 'What became of a payment authorization',
  description: 'For whoever knows the nonce; what was bought is not told.',
  access: [],
  params: {
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(PAYER_FORM)),
    nonce: v.pipe(v.string(), v.regex(NONCE_FORM)),
  },
  examples: {
    params: { network: NETWORK, payer: PAYER, nonce: NONCE },
    answer: { network: NETWORK, payer: PAYER, nonce: NONCE, state: 'settled', transaction: TRANSACTION },
  },
  answer: v.strictObject({
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(PAYER_FORM)),
    nonce: v.pipe(v.string(), v.regex(NONCE_FORM)),
    state: v.picklist(PAYMENT_STATES),
    transaction: v.nullable(v.pipe(v.string(), v.regex(NONCE_FORM))),
  }),
  errors: ['NOT_FOUND'],
  handle(_, services, { params }) {
    const payer = decoded(params.payer);
    const nonce = decoded(params.nonce);
    const isNamed = decoded(params.network) === services.network && PAYER_FORM.test(payer) && NONCE_FORM.test(nonce);
    return chain(isNamed ? services.find(payer, nonce) : undefined, (found) => {
      if (found === undefined) return refuse('NOT_FOUND', 'this server knows no such payment');
      const { state, transaction } = found;
      return { network: services.network, payer: found.payer, nonce: nonce.toLowerCase(), state, transaction };
    });
  },
});
