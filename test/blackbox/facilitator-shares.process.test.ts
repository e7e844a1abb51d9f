/**
 * A facilitator that many ask at a time: what one client may hold of it, and what a payment may say about it (reliability 83,
 * 96, 99, 100, 102). The attackers' payments are signed, and their wallets are empty or not wallets at all.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectPaid, get } from '../support/answers.ts';
import type { FacilitatorCall, Step } from '../support/fake-facilitator.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { oneRuntime } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { altered, encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { IS_WHOLE, partOf } from '../support/whole.ts';
import { authorizationOf, type Facilitated, openFacilitated, settled, valid } from './facilitated-server.ts';

const payTo = wallet().address;
const account = wallet();
const empty = wallet();
/** As many as one network may hold: half of those that newcomers share. */
const SHARE = 96;
const FLOOD = '198.51.100.66';
/** A flood takes its time. */
const PATIENCE_MS = 15_000;

/** Of a facilitator, over one client's contract signatures. */
const FAILURES = ['hang', { status: 500 }, { status: 503 }, 'reset'] as const;

describe.each(oneRuntime('bun'))('a facilitator under a flood of signed payments, under %s', (runtime) => {
  let shop: Facilitated;
  afterEach(async () => {
    expect(await shop.close()).toBe(0);
  });

  const open = async (): Promise<void> => {
    shop = await openFacilitated(runtime, payTo, { TRUST_PROXY: 'true', LOG_LEVEL: 'warn' });
  };
  const payFrom = (address: string, payment: unknown): Promise<Answer> =>
    get(shop.jobs.url(shop.jobs.search), {
      'PAYMENT-SIGNATURE': encodeHeader(payment),
      'X-Forwarded-For': address,
    });
  const payments = async (count: number, from = empty) => {
    const offer = await offerOf(shop.jobs.url(shop.jobs.search));
    return Promise.all(Array.from({ length: count }, () => paymentFor(offer, from)));
  };
  const metric = async (name: string, labels?: Record<string, string>): Promise<number> =>
    new MetricsPage((await shop.jobs.get('/metrics')).text).value(name, labels);
  const isEmpty = (call: FacilitatorCall): boolean => authorizationOf(call).from === empty.address;
  const poor: Step = { status: 200, body: { isValid: false, invalidReason: 'insufficient_funds' } };
  const refused = (answer: Answer): string =>
    `${answer.status} ${(JSON.parse(answer.text) as { error: { code: string } }).error.code}`;

  it('lets one network hold its share of a slow facilitator; others pay meanwhile (reliability 99)', async () => {
    await open();
    let heldCount = 0;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = (call: FacilitatorCall): Step | Promise<Step> => {
      if (!isEmpty(call)) return valid(call);
      heldCount++;
      return gate.then(() => poor);
    };
    shop.facilitator.scripts = { ...shop.facilitator.scripts, '/verify': hold as never };
    const flood = (await payments(400)).map((payment, i) => payFrom(`${FLOOD}:${i}`, payment));
    await until('the share in flight', () => heldCount === SHARE, PATIENCE_MS);
    await until('those that wait', async () => (await metric('paygrade_settlement_turns_waiting')) > 0, PATIENCE_MS);
    const honest = await payments(8, account);
    for (const [i, payment] of honest.entries()) expectPaid(await payFrom(`192.0.2.${i}`, payment), account.address);
    expectError(await shop.jobs.get(shop.jobs.search), 402, 'PAYMENT_REQUIRED');
    expect(heldCount).toBe(SHARE);
    release();
    const answers = (await Promise.all(flood)).map(refused);
    // Those that were held are answered by the facilitator or by its deadline, those that waited by theirs.
    for (const answer of answers)
      expect(answer).toMatch(/^(402 PAYMENT_INVALID|503 SETTLEMENT_UNAVAILABLE|429 RATE_LIMIT)/);
    expect(answers.filter((answer) => answer.startsWith('429')).length).toBeGreaterThan(100);
    await until('the end of all turns', async () => (await metric('paygrade_settlement_turns')) === 0, PATIENCE_MS);
    expect(await metric('paygrade_reservations')).toBe(8);
  }, 60_000);

  it('asks less and less for a network whose payments are refused, and goes on for the rest (reliability 83)', async () => {
    await open();
    let inFlight = 0;
    let most = 0;
    const judge = async (call: FacilitatorCall): Promise<Step> => {
      if (!isEmpty(call)) return valid(call);
      inFlight++;
      most = Math.max(most, inFlight);
      await pause(50);
      inFlight--;
      return poor;
    };
    shop.facilitator.scripts = { ...shop.facilitator.scripts, '/verify': judge as never };
    for (const payment of await payments(6)) expect(refused(await payFrom(FLOOD, payment))).toBe('402 PAYMENT_INVALID');
    most = 0;
    const flood = (await payments(partOf(150, 60))).map((payment) => payFrom(FLOOD, payment));
    const honest = await payments(5, account);
    for (const [i, payment] of honest.entries()) expectPaid(await payFrom(`192.0.2.${i}`, payment), account.address);
    await Promise.all(flood);
    expect(most).toBeLessThanOrEqual(2);
    expect(await metric('paygrade_verification_divergences_total', { about: 'signature' })).toBe(0);
  }, 60_000);

  it.each(IS_WHOLE ? FAILURES : FAILURES.slice(-1))(
    'sells to others while it fails over a stranger’s contract signatures (%j)',
    async (step) => {
      await open();
      await until('readiness', async () => (await shop.jobs.get('/ready')).status === 200, PATIENCE_MS);
      const failing = (call: FacilitatorCall): Step | Promise<Step> => (isEmpty(call) ? step : valid(call));
      const noSettlement = (call: FacilitatorCall): Step | Promise<Step> => (isEmpty(call) ? step : settled(call));
      shop.facilitator.scripts = { ...shop.facilitator.scripts, '/verify': failing, '/settle': noSettlement };
      const [signed] = await payments(1);
      const flood = Array.from({ length: 30 }, (_, i) =>
        payFrom(
          `198.51.100.${i}`,
          altered(signed!, {
            authorization: { nonce: `0x${(i + 1).toString(16).padStart(64, '0')}` },
            signature: `0x${'ab'.repeat(80)}`,
          }),
        ),
      );
      const honest = await payments(10, account);
      for (const [i, payment] of honest.entries()) {
        expectPaid(await payFrom(`192.0.2.${i}`, payment), account.address);
        expectError(await shop.jobs.get(shop.jobs.search), 402, 'PAYMENT_REQUIRED');
      }
      for (const answer of await Promise.all(flood))
        expect(refused(answer)).toMatch(/^(503 SETTLEMENT_UNAVAILABLE|429)/);
      expectError(await shop.jobs.get(shop.jobs.search), 402, 'PAYMENT_REQUIRED');
      expect((await shop.jobs.get('/ready')).status).toBe(200);
    },
    60_000,
  );

  it('counts a verdict against our own check, and a transaction for two authorizations (reliability 88, 102)', async () => {
    await open();
    const one = `0x${'ab'.repeat(32)}`;
    const same = (call: FacilitatorCall): Step => ({
      status: 200,
      body: { success: true, transaction: one, network: 'eip155:8453', payer: authorizationOf(call).from },
    });
    const [first, second, third] = await payments(3, account);
    for (const payment of [first!, second!]) {
      shop.plan(payment, '/settle', same);
      expectPaid(await payFrom('192.0.2.1', payment), account.address);
    }
    expect(await metric('paygrade_settlement_repeated_transactions_total')).toBe(1);
    await until(
      'the log line',
      () => shop.jobs.server.stdout().includes('with the transaction of another one'),
      PATIENCE_MS,
    );
    const reason = 'invalid_exact_evm_signature';
    shop.plan(third!, '/verify', { status: 200, body: { isValid: false, invalidReason: reason } });
    expect(refused(await payFrom('192.0.2.1', third))).toBe('402 PAYMENT_INVALID');
    expect(await metric('paygrade_verification_divergences_total', { about: 'signature' })).toBe(1);
  });
});
