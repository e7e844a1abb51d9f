/** SIGTERM with settlements in flight (reliability 264): the server finishes them, or records them as unknown and checks them at the next start. */
import { describe, expect, it } from 'vitest';
import { expectError, expectPaid, receiptOf } from '../support/answers.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { RUNTIMES } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';
import { type Facilitated, openFacilitated, settled, transactionOf } from './facilitated-server.ts';

const account = wallet();
const payTo = wallet().address;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(RUNTIMES)('SIGTERM while a settlement is under way, under %s', (runtime) => {
  const stateDir = suiteFolder();
  const open = (facilitatorUrl?: string): Promise<Facilitated> =>
    openFacilitated(runtime, payTo, {
      STATE_DIR: stateDir,
      BASE_URL: 'https://shop.example',
      ...(facilitatorUrl === undefined ? {} : { FACILITATOR_URL: facilitatorUrl }),
    });

  it('that ends in time: it is answered and paid for, and the exit code is 0', async () => {
    const shop = await open();
    const payment = await shop.payment(account);
    let stopped: Promise<number | null> | undefined;
    shop.plan(payment, '/settle', async (call) => {
      stopped = shop.jobs.server.stop();
      await pause(1000);
      return settled(call);
    });
    expectPaid(await shop.jobs.pay(shop.jobs.search, payment), account.address);
    expect(await stopped).toBe(0);
    await shop.facilitator.close();

    const next = await open();
    expectError(await next.jobs.pay(next.jobs.search, payment), 409, 'PAYMENT_ALREADY_USED');
    expect(next.callsOf(payment, '/settle')).toEqual([]);
    expect(await next.close()).toBe(0);
  });

  it('that does not end: exit code 0 within 10 s, and the next start finds out in the same words', {
    timeout: 40_000,
  }, async () => {
    const shop = await open();
    const payment = await shop.payment(account);
    let stopped: Promise<number | null> | undefined;
    let startedMs = 0;
    shop.plan(payment, '/settle', () => {
      startedMs = performance.now();
      stopped = shop.jobs.server.stop();
      return 'hang';
    });
    const answer = await shop.jobs.pay(shop.jobs.search, payment);
    expectError(answer, 503, 'SETTLEMENT_PENDING');
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    expect(await stopped).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(10_500);
    const [first] = shop.callsOf(payment, '/settle');
    await shop.facilitator.close();

    const next = await open();
    expect(next.jobs.server.stderr()).toContain(
      'settlements of unknown outcome, which the server repeats until it knows the outcome: 1',
    );
    await expect
      .poll(
        async () => {
          const again = await next.jobs.pay(next.jobs.search, payment);
          expectError(again, 409, 'PAYMENT_ALREADY_USED');
          return receiptOf(again).success;
        },
        { timeout: 10_000 },
      )
      .toBe(true);
    expect(receiptOf(await next.jobs.pay(next.jobs.search, payment)).transaction).toBe(
      transactionOf(payment.payload.authorization.nonce),
    );
    expect(next.callsOf(payment, '/settle').map(({ body }) => body)).toEqual([first?.body]);
    expect(await next.close()).toBe(0);
  });
});
