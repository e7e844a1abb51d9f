import { expect, it } from 'vitest';
import { facilitatorBodyOf, orderOfText, orderTextOf, paymentOrder } from '../../../src/payment/protocol/order.ts';
import { orderFor, searchOffer } from '../fixture.ts';

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
