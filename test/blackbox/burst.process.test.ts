/** Case 74 and 75 of the reliability catalogue: many at once with one authorization, over real sockets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { oneRuntime } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';
import { partOf } from '../support/whole.ts';

const REQUEST_COUNT = 300;
/** One search and one signals: what a burst cost can be told by what is left. */
const BALANCE_ATOMIC = 110_000;

const withStatus = (answers: readonly Answer[], status: number): Answer[] =>
  answers.filter((answer) => answer.status === status);

describe.each(oneRuntime('node'))('one authorization, many requests, under %s', (runtime) => {
  let jobs: JobsServer;
  beforeAll(async () => {
    jobs = await startJobsServer(runtime, { LOCAL_BALANCE: String(BALANCE_ATOMIC) });
  });
  afterAll(async () => {
    expect(await jobs.server.stop()).toBe(0);
  });

  it('offers made at once are each a response of their own, whatever is remembered of the question', async () => {
    const searches = ['', '&company=example.com', '&remote=true', '&remote=false'];
    const offerCount = partOf(300, 60);
    const asked = Array.from({ length: offerCount }, (_, i) => jobs.search + searches[i % searches.length]!);
    const [answers, others] = await Promise.all([
      Promise.all(asked.map((path) => jobs.get(path))),
      Promise.all(Array.from({ length: offerCount }, () => jobs.get('/health'))),
    ]);
    for (const [i, answer] of answers.entries()) {
      expect(expectOffer(answer).resource.url).toBe(jobs.url(asked[i]!));
      expectError(answer, 402, 'PAYMENT_REQUIRED');
    }
    const ids = [...answers, ...others].map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(2 * offerCount);
    for (const { status, headers } of others) {
      expect([status, headers.get('payment-required')]).toEqual([200, null]);
    }
  });

  it(`${REQUEST_COUNT} identical requests at once are one 200, otherwise 409, and one settlement (reliability 74)`, async () => {
    const account = wallet();
    const payment = await jobs.payment(jobs.search, account);
    const answers = await Promise.all(Array.from({ length: REQUEST_COUNT }, () => jobs.pay(jobs.search, payment)));
    const [paid, ...more] = withStatus(answers, 200);
    expect(more).toEqual([]);
    const { transaction } = expectPaid(paid!, account.address);
    const refused = withStatus(answers, 409);
    expect(refused.length).toBe(REQUEST_COUNT - 1);
    for (const answer of refused) {
      expectError(answer, 409, 'PAYMENT_ALREADY_USED');
      if (answer.headers.has('payment-response')) {
        expect(receiptOf(answer)).toMatchObject({ success: true, transaction });
      } else expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
    }
    // After one settlement exactly one signals can still be paid for, and then nothing.
    expectPaid(await jobs.pay(jobs.signals, await jobs.payment(jobs.signals, account)), account.address);
    const broke = await jobs.pay(jobs.search, await jobs.payment(jobs.search, account));
    expectError(broke, 402, 'PAYMENT_NOT_SETTLED');
  });

  it('one authorization on search, company and signals at once buys one answer (reliability 75)', async () => {
    const account = wallet();
    const payment = await jobs.payment(jobs.search, account);
    const paths = Array.from({ length: 30 }, (_, i) => [jobs.search, jobs.company, jobs.signals][i % 3]!);
    const answers = await Promise.all(paths.map((path) => jobs.pay(path, payment)));
    expect(withStatus(answers, 200).length).toBe(1);
    expect(withStatus(answers, 409).length).toBe(9);
    // The other two routes ask for another amount.
    expect(withStatus(answers, 402).length).toBe(20);
    for (const answer of withStatus(answers, 402)) expectError(answer, 402, 'PAYMENT_INVALID');
  });

  it('one authorization on a hundred questions of one price at once buys one answer (reliability 75)', async () => {
    const account = wallet();
    const payment = await jobs.payment(jobs.search, account);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => jobs.pay(`/v1/jobs/search?keyword=term${i}`, payment)),
    );
    expect(withStatus(answers, 200).length).toBe(1);
    expect(withStatus(answers, 409).length).toBe(99);
  });

  it('twenty payers with one and the same nonce are independent (reliability 77)', async () => {
    const nonce = `0x${'5a'.repeat(32)}` as const;
    const payers = Array.from({ length: 20 }, () => wallet());
    const payments = await Promise.all(
      payers.map((payer) => jobs.payment(jobs.search, payer, { authorization: { nonce } })),
    );
    const answers = await Promise.all(payments.map((payment) => jobs.pay(jobs.search, payment)));
    for (const [i, answer] of answers.entries()) expectPaid(answer, payers[i]!.address);
    expect(new Set(answers.map((answer) => receiptOf(answer).transaction)).size).toBe(payers.length);
  });
});
