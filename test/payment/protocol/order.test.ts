import { expect, it } from 'vitest';
import { BASE } from '../../../src/payment/protocol/network.ts';
import {
  facilitatorBodyOf,
  failureHeader,
  orderOfText,
  orderTextOf,
  paymentOrder,
  receiptHeader,
  reservationKeyOf,
} from '../../../src/payment/protocol/order.ts';
import { prepareOffer } from '../../../src/payment/protocol/requirements.ts';
import { orderFor, PAYEE, searchOffer } from '../fixture.ts';

it.each([
  ['echoed the extensions', true],
  ['left the extensions out', false],
])('an order whose client %s is the same after it was written down, and so is its facilitator’s body', (_, echoes) => {
  const { authorization } = orderFor();
  const order = paymentOrder(searchOffer, authorization, new Uint8Array(65).fill(27), echoes);
  const read = orderOfText(orderTextOf(order));
  expect(facilitatorBodyOf(read)).toBe(facilitatorBodyOf(order));
  expect(facilitatorBodyOf(read).includes('bazaar')).toBe(echoes);
  expect([read.key, read.payer, read.authorization]).toEqual([order.key, order.payer, order.authorization]);
});

it('an order of a route that must not be listed is not listed, whatever the client echoed', () => {
  const offer = prepareOffer({
    baseUrl: 'https://api.example.com',
    path: '/v1/unlisted',
    description: 'Unlisted',
    priceUsdc: '0.02',
    network: BASE,
    payTo: PAYEE,
    bazaar: undefined,
    serviceName: 'paygrade',
  });
  const { authorization } = orderFor();
  const order = paymentOrder(offer, authorization, new Uint8Array(65).fill(27), true);
  expect(order.isListed).toBe(false);
  expect(orderOfText(orderTextOf(order)).isListed).toBe(false);
});

it('an authorization has one key on its network, whatever the case of its digits', () => {
  const [from, nonce] = [`0x${'aB'.repeat(20)}`, `0x${'cD'.repeat(32)}`];
  const key = reservationKeyOf(BASE, from, nonce);
  expect(key).toHaveLength(16);
  expect(reservationKeyOf(BASE, from.toLowerCase(), nonce.toLowerCase())).toBe(key);
  expect(reservationKeyOf(BASE, from, `0x${'cD'.repeat(31)}ce`)).not.toBe(key);
  expect(reservationKeyOf({ ...BASE, id: 'eip155:84532' }, from, nonce)).not.toBe(key);
});

it('PAYMENT-RESPONSE is the settlement response of x402 v2, of a success and of a failure', () => {
  const decoded = (header: string): unknown => JSON.parse(Buffer.from(header, 'base64').toString());
  const transaction = `0x${'1'.repeat(64)}`;
  expect(decoded(receiptHeader('eip155:8453', PAYEE, transaction))).toEqual({
    success: true,
    transaction,
    network: 'eip155:8453',
    payer: PAYEE,
  });
  expect(decoded(failureHeader('eip155:8453', PAYEE, 'insufficient_funds', ''))).toEqual({
    success: false,
    errorReason: 'insufficient_funds',
    transaction: '',
    network: 'eip155:8453',
    payer: PAYEE,
  });
});
