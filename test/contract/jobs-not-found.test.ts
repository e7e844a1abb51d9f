/**
 * A question about a job or a company that the catalogue does not have (siblings §2): 402 unpaid, 404 for a valid payment, which
 * is not charged and buys another answer. Closed jobs are answered.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectPaid } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { SAMPLE_JOB_ID } from '../support/jobs-client.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { altered, wallet } from '../support/wallet.ts';

describe(`what the catalogue does not have, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp();
  });
  afterAll(() => jobs.close());

  it.each([
    ['/v1/jobs/detail?id=unknown', 'JOB_NOT_FOUND', `/v1/jobs/detail?id=${SAMPLE_JOB_ID}`],
    [`/v1/jobs/detail?id=%20${SAMPLE_JOB_ID}`, 'JOB_NOT_FOUND', `/v1/jobs/detail?id=${SAMPLE_JOB_ID}`],
    ['/v1/jobs/detail?id=%F0%9F%9A%80', 'JOB_NOT_FOUND', `/v1/jobs/detail?id=${SAMPLE_JOB_ID}`],
    ['/v1/jobs/changes?company=unknown.example', 'COMPANY_NOT_FOUND', '/v1/jobs/changes'],
    ['/v1/jobs/skills?company=unknown.example&limit=1', 'COMPANY_NOT_FOUND', '/v1/jobs/skills'],
  ])('%s is 402 unpaid and 404 %s paid, and the payment still buys %s', async (path, code, other) => {
    const account = wallet();
    expectError(await jobs.get(path), 402, 'PAYMENT_REQUIRED');
    const payment = await jobs.payment(path, account);
    const forged = altered(payment, { authorization: { nonce: `0x${'1'.repeat(64)}` } });
    expectError(await jobs.pay(path, forged), 402, 'PAYMENT_INVALID');
    const answer = await jobs.pay(path, payment);
    expectError(answer, 404, code);
    expect(answer.headers.get('payment-response')).toBeNull();
    expectPaid(await jobs.pay(other, { ...payment, resource: (await jobs.offer(other)).resource }), account.address);
  });
});
