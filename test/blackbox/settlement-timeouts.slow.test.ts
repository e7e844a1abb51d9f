/**
 * Cases 91 and 96 of the reliability catalogue: a facilitator that is silent, or drips, until the deadlines (8 s to verify,
 * 30 s to settle). All of them wait at the same time, under both runtimes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, receiptOf } from '../support/answers.ts';
import { createCallback, eventsOf, post } from '../support/callback-client.ts';
import { RUNTIMES } from '../support/server.ts';
import { type Payment, wallet } from '../support/wallet.ts';
import {
  expectPending,
  expectUnavailable,
  type Facilitated,
  openFacilitated,
  type Step,
  settled,
  valid,
} from './facilitated-server.ts';

const VERIFY_DEADLINE_MS = 8000;
const SETTLE_DEADLINE_MS = 30_000;
const LATE_MS = 4000;

interface Waiting {
  readonly payment: Payment;
  readonly answer: Promise<{ answer: Answer; afterMs: number }>;
}

describe('a facilitator that does not come to an end', () => {
  const account = wallet();
  const shops = new Map<string, Facilitated>();
  const waits = new Map<string, Waiting>();

  const start = async (shop: Facilitated, path: '/verify' | '/settle', step: Step): Promise<Waiting> => {
    const payment = await shop.payment(account);
    shop.plan(payment, path, step, path === '/verify' ? valid : settled);
    const startMs = performance.now();
    const answer = shop.jobs
      .pay(shop.jobs.search, payment)
      .then((one) => ({ answer: one, afterMs: performance.now() - startMs }));
    return { payment, answer };
  };

  beforeAll(async () => {
    for (const runtime of RUNTIMES) {
      const shop = await openFacilitated(runtime, wallet().address);
      shops.set(runtime, shop);
      for (const path of ['/verify', '/settle'] as const) {
        for (const step of ['hang', 'drip'] as const) {
          waits.set(`${runtime} ${path} ${step}`, await start(shop, path, step));
        }
      }
    }
  });
  afterAll(async () => {
    for (const shop of shops.values()) expect(await shop.close()).toBe(0);
  });

  const ROWS = RUNTIMES.flatMap((runtime) => (['hang', 'drip'] as const).map((step) => [runtime, step] as const));

  it.each(ROWS)(
    'under %s a verification that is a %s is cut at its deadline: 503, and free (reliability 91, 96)',
    async (runtime, step) => {
      const { payment, answer } = waits.get(`${runtime} /verify ${step}`)!;
      const ended = await answer;
      expectUnavailable(ended.answer);
      expect(ended.afterMs).toBeGreaterThanOrEqual(VERIFY_DEADLINE_MS - 100);
      expect(ended.afterMs).toBeLessThan(VERIFY_DEADLINE_MS + LATE_MS);
      const shop = shops.get(runtime)!;
      const again = await shop.jobs.pay(shop.jobs.search, payment);
      expect(again.status).toBe(200);
    },
  );

  it.each(RUNTIMES)(
    'under %s free routes and webhooks answer at once in the meantime (reliability 99)',
    async (runtime) => {
      const { jobs } = shops.get(runtime)!;
      const callback = await createCallback(jobs.server);
      const startMs = performance.now();
      expect((await jobs.get('/health')).status).toBe(200);
      expectError(await jobs.get(jobs.search), 402, 'PAYMENT_REQUIRED');
      expect((await post(jobs.server, callback.id, 'x')).status).toBe(200);
      expect(await eventsOf(jobs.server, callback)).toHaveLength(1);
      expect(performance.now() - startMs).toBeLessThan(1000);
    },
  );

  it.each(ROWS)(
    'under %s a settlement that is a %s is cut at its deadline: 503, held, and settled by asking again (reliability 91, 96)',
    async (runtime, step) => {
      const { payment, answer } = waits.get(`${runtime} /settle ${step}`)!;
      const ended = await answer;
      expectPending(ended.answer, '');
      expect(ended.afterMs).toBeGreaterThanOrEqual(SETTLE_DEADLINE_MS - 100);
      expect(ended.afterMs).toBeLessThan(SETTLE_DEADLINE_MS + LATE_MS);
      const { jobs } = shops.get(runtime)!;
      for (let i = 0; i < 60; i++) {
        const again = await jobs.pay(jobs.search, payment);
        expectError(again, 409, 'PAYMENT_ALREADY_USED');
        if (receiptOf(again).success) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error('it was never settled');
    },
    SETTLE_DEADLINE_MS + 20_000,
  );
});
