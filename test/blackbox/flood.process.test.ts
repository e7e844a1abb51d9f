/** Case 208: a flood of forged payments from one address, as everybody else meets it. Statuses are counted, not times. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectPaid, get } from '../support/answers.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { oneRuntime, RUNTIMES } from '../support/server.ts';
import { altered, encodeHeader, type Payment, wallet } from '../support/wallet.ts';
import { IS_WHOLE, partOf } from '../support/whole.ts';

const FORGED_COUNT = partOf(900);
const HONEST_COUNT = 8;

describe.each(oneRuntime('bun'))('a flood of forged payments, under %s', (runtime) => {
  let jobs: JobsServer;
  beforeAll(async () => {
    jobs = await startJobsServer(runtime, { SIGNATURES: 'noble', TRUST_PROXY: 'true', SNAPSHOT: 'sample' });
  });
  afterAll(async () => {
    expect(await jobs.server.stop()).toBe(0);
  });

  const payFrom = (address: string, payment: unknown): Promise<Answer> =>
    get(jobs.url(jobs.search), {
      'PAYMENT-SIGNATURE': encodeHeader(payment),
      'X-Forwarded-For': address,
    });

  /** Right in every respect but that the signature is another authorization's. */
  const forged = (payment: Payment): unknown =>
    altered(payment, { authorization: { nonce: `0x${randomBytes(32).toString('hex')}` } });

  it('is refused without anything reserved, while others pay, hear the price and see that all is well', async () => {
    const account = wallet();
    const real = await jobs.payment(jobs.search, account);
    const honest = await Promise.all(Array.from({ length: HONEST_COUNT }, () => jobs.payment(jobs.search, account)));
    const flood = Array.from({ length: FORGED_COUNT }, () => payFrom('198.51.100.66', forged(real)));
    const paid = honest.map((payment, i) => payFrom(`192.0.2.${i + 1}`, payment));
    const free = [jobs.get('/health'), jobs.get('/ready'), jobs.get(jobs.search)];
    for (const answer of await Promise.all(paid)) expectPaid(answer, account.address);
    expect((await Promise.all(free)).map(({ status }) => status)).toEqual([200, 200, 402]);
    for (const answer of await Promise.all(flood)) {
      switch (answer.status) {
        case 402:
          expectError(answer, 402, 'PAYMENT_INVALID');
          break;
        case 429:
          expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
          expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
          break;
        default: // waited too long on a busy machine
          expectError(answer, 503, 'SETTLEMENT_UNAVAILABLE');
          expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
      }
      expect(answer.headers.get('payment-response')).toBeNull();
    }
    // What the forgeries were made from was never paid for, so it still is good for one answer.
    expectPaid(await payFrom('198.51.100.66', real), account.address);
  });
});

describe.each(RUNTIMES)('verification, under %s', (runtime) => {
  // Threads are the runtime's own: in `npm test` Bun has two, and Node none, which has one in the other tests.
  it.each(['0', '2'].filter((count) => IS_WHOLE || (count === '0') === (runtime === 'node')))(
    'with WORKERS=%s sells one answer for one payment, whoever sends it at once',
    async (WORKERS) => {
      const jobs = await startJobsServer(runtime, { WORKERS, TRUST_PROXY: 'true' });
      const account = wallet();
      const payment = encodeHeader(await jobs.payment(jobs.search, account));
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          get(jobs.url(jobs.search), { 'PAYMENT-SIGNATURE': payment, 'X-Forwarded-For': `192.0.2.${i}` }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(39).fill(409)]);
      expect(await jobs.server.stop()).toBe(0);
      expect(jobs.server.stderr()).not.toMatch(/verified (by noble|on the main thread)/);
    },
  );

  it('sells to a client that comes alone, to many at once and to one alone again, and to no forger among them', async () => {
    const jobs = await startJobsServer(runtime, { WORKERS: '1', SIGNATURES: 'wasm', TRUST_PROXY: 'true' });
    const account = wallet();
    const pay = async (isForged: boolean, i: number): Promise<void> => {
      const payment = await jobs.payment(jobs.search, account);
      const sent = isForged
        ? altered(payment, { authorization: { nonce: `0x${randomBytes(32).toString('hex')}` } })
        : payment;
      const headers = { 'PAYMENT-SIGNATURE': encodeHeader(sent), 'X-Forwarded-For': `192.0.2.${i}` };
      const answer = await get(jobs.url(jobs.search), headers);
      if (isForged) expectError(answer, 402, 'PAYMENT_INVALID');
      else expectPaid(answer, account.address);
    };
    for (const together of [1, 1, 1, 1, 40, 40, 1, 1, 1, 1])
      await Promise.all(Array.from({ length: together }, (_, i) => pay(i % 3 === 1, i)));
    expect(await jobs.server.stop()).toBe(0);
  });
});
