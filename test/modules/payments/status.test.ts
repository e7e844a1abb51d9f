/** The status of a payment, also after the reservations have forgotten it (decisions §4). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RETENTION_SECONDS } from '../../../src/payment/reservations.ts';
import { expectError, expectPaid } from '../../support/answers.ts';
import { type JobsApp, openJobsApp } from '../../support/jobs-app.ts';
import { metricsOf } from '../../support/metrics-page.ts';
import { ShiftedClock } from '../../support/shifted-clock.ts';
import { wallet } from '../../support/wallet.ts';

let jobs: JobsApp;
const clock = new ShiftedClock();
beforeAll(async () => {
  jobs = await openJobsApp({}, { clock });
});
afterAll(() => jobs.close());

it('is found by payer and nonce for as long as the sale is in the books', async () => {
  const account = wallet();
  const payment = await jobs.payment(jobs.search, account);
  const { transaction } = expectPaid(await jobs.pay(jobs.search, payment), account.address);
  const path = `/v1/payments/eip155:8453/${account.address}/${payment.payload.authorization.nonce}`;
  const isSettled = async (): Promise<void> => {
    const { status, text } = await jobs.get(path);
    expect([status, JSON.parse(text)]).toMatchObject([200, { state: 'settled', transaction }]);
  };
  await isSettled();
  const heldCount = async (): Promise<number> => (await metricsOf(jobs.opened)).value('paygrade_reservations');
  const held = await heldCount();
  clock.aheadMs = (RETENTION_SECONDS + 150) * 1000;
  // Another purchase makes the reservations forget what is past its retention.
  const validBefore = clock.secondsAhead(120);
  const later = wallet();
  const second = await jobs.payment(jobs.search, later, { authorization: { validBefore } });
  expectPaid(await jobs.pay(jobs.search, second), later.address);
  expect(await heldCount()).toBeLessThan(held);
  await isSettled();
});

it('is the present one, however often a client has asked before', async () => {
  const account = wallet();
  const validBefore = clock.secondsAhead(120);
  const payment = await jobs.payment(jobs.search, account, { authorization: { validBefore } });
  const { nonce } = payment.payload.authorization;
  const path = `/v1/payments/eip155:8453/${account.address}/${nonce}`;
  for (let i = 0; i < 3; i++) expectError(await jobs.get(path), 404, 'PAYMENT_NOT_FOUND');
  expectPaid(await jobs.pay(jobs.search, payment), account.address);
  for (const spelling of [
    path,
    path,
    `/v1/payments/eip155:8453/0x${account.address.slice(2).toUpperCase()}/${nonce}`,
  ]) {
    const { status, text } = await jobs.get(spelling);
    expect([status, JSON.parse(text)]).toMatchObject([200, { payer: account.address, nonce, state: 'settled' }]);
  }
});

it.each([
  `/v1/payments/eip155:8453/0x${'5a'.repeat(20)}/0x${'3c'.repeat(32)}`,
  `/v1/payments/eip155:1/0x${'5a'.repeat(20)}/0x${'3c'.repeat(32)}`,
  '/v1/payments/eip155:8453/a/b',
  '/v1/payments/eip155:8453/%/%',
])('%s is 404 PAYMENT_NOT_FOUND', async (path) => {
  expectError(await jobs.get(path), 404, 'PAYMENT_NOT_FOUND');
});
