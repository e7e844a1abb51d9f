/**
 * GET /v1/payments/{network}/{payer}/{nonce}: the status of an authorization, free. Before settlement only the payer and this
 * server know its nonce (256 random bits). The answer states status and transaction, and nothing about the purchase.
 */
import * as v from 'valibot';
import { decodePercent } from '../../base/codec.ts';
import { chain } from '../../base/maybe-promise.ts';
import { memoizeRecent } from '../../base/memoize-recent.ts';
import { defineErrors, refuse, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import {
  ADDRESS_FORM,
  BYTES32_FORM,
  checksummed,
  findNetwork,
  type NetworkId,
} from '../../payment/protocol/network.ts';
import { type ReservationKey, reservationKeyOf } from '../../payment/protocol/order.ts';
import type { PaymentServices } from './services.ts';

export const { PAYMENT_NOT_FOUND } = defineErrors({
  PAYMENT_NOT_FOUND: { status: 404 },
});

const UNKNOWN_PAYMENT = refuse(PAYMENT_NOT_FOUND, 'this server knows no such payment');

const PAYMENT_STATES = ['reserved', 'settling', 'unknown', 'settled', 'dead'] as const;

/** Values for the examples, all but the network invented. */
const EXAMPLE_NETWORK: NetworkId = 'eip155:8453';
const PAYER = `0x${'5a'.repeat(20)}`;
const NONCE = `0x${'3c'.repeat(32)}`;
const TRANSACTION = `0x${'9e'.repeat(32)}`;

/** A path parameter as text; the empty string for malformed escapes, which matches no payment. */
const decoded = (segment = ''): string => decodePercent(segment) ?? '';

/** The payment that a path names, in lower case. */
interface NamedPayment {
  readonly key: ReservationKey;
  readonly network: NetworkId;
  readonly payer: string;
  readonly nonce: string;
}

/** Memoized because clients ask until a payment has settled. Each entry retains its request's target: 16 KB at most. */
const NAMED_COUNT_MAX = 256;
/** Longest memoized path: enough for any path without percent-encoding. */
const PATH_LENGTH_MAX = 160;

/** On any network that servers sell on: sales from before a change of network are on record too. null: it names no payment. */
const namedBy = memoizeRecent(
  (_path: string, params: Readonly<Record<string, string>>): NamedPayment | null => {
    const payer = decoded(params.payer);
    const nonce = decoded(params.nonce);
    const network = findNetwork(decoded(params.network));
    if (network === undefined || !ADDRESS_FORM.test(payer) || !BYTES32_FORM.test(nonce)) return null;
    const key = reservationKeyOf(network, payer, nonce);
    return { key, network: network.id, payer: payer.toLowerCase(), nonce: nonce.toLowerCase() };
  },
  NAMED_COUNT_MAX,
  PATH_LENGTH_MAX,
);

export const paymentStatus = route<PaymentServices>()({
  operation: 'paymentStatus',
  method: 'GET',
  path: '/v1/payments/:network/:payer/:nonce',
  summary: 'Status of a payment authorization',
  description: 'The payer finds it by the nonce. The answer does not state what was bought.',
  access: [],
  params: {
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(ADDRESS_FORM)),
    nonce: v.pipe(v.string(), v.regex(BYTES32_FORM)),
  },
  examples: {
    params: { network: EXAMPLE_NETWORK, payer: PAYER, nonce: NONCE },
    answer: { network: EXAMPLE_NETWORK, payer: PAYER, nonce: NONCE, state: 'settled', transaction: TRANSACTION },
  },
  answer: v.strictObject({
    network: v.string(),
    payer: v.pipe(v.string(), v.regex(ADDRESS_FORM)),
    nonce: v.pipe(v.string(), v.regex(BYTES32_FORM)),
    state: v.picklist(PAYMENT_STATES),
    transaction: v.nullable(v.pipe(v.string(), v.regex(BYTES32_FORM))),
  }),
  errors: [PAYMENT_NOT_FOUND, STATE_UNAVAILABLE],
  handle(_, { statusOf }, { path, params }) {
    const named = namedBy(path, params);
    if (named === null) return UNKNOWN_PAYMENT;
    // `statusOf` looks in the books for what the reservations have forgotten.
    return chain(statusOf(named.key), (status) => {
      if (status === undefined) return UNKNOWN_PAYMENT;
      const transaction = 'transaction' in status && status.transaction !== '' ? status.transaction : null;
      const { network, payer, nonce } = named;
      return { network, payer: checksummed(payer), nonce, state: status.kind, transaction };
    });
  },
});
