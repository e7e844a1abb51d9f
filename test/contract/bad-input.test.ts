/**
 * Input is judged before payment (jobs-intelligence, "Common rules" 3): every bad query of the table, sent with a good
 * payment, is a 400 that names parameter and reason; the payment is neither looked at nor spent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectPaid } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { JOBS_PATHS } from '../support/jobs-client.ts';
import { BAD_INPUTS } from '../support/jobs-inputs.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { encodeHeader, type Payment, wallet } from '../support/wallet.ts';

/** What the message says beside the name, by code. */
const REASONS: Readonly<Record<string, RegExp>> = {
  INVALID_PARAMETER: /^(?:`\w+` (?:must be|is not valid) |a parameter name is not valid )/,
  UNSUPPORTED_PERIOD: /^`period` must be `7d`/,
  UNKNOWN_PARAMETER: /^unknown query parameter ".*": this route accepts `/,
  DUPLICATE_PARAMETER: /^`\w+` is given more than once/,
  MISSING_PARAMETER: /^`(?:company|id)` is required: /,
};

describe(`bad input with a good payment, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const account = wallet();
  const payments = new Map<string, Payment>();
  beforeAll(async () => {
    jobs = await openJobsApp();
    for (const path of JOBS_PATHS) {
      const target = jobs.targetOf(path);
      payments.set(path, await jobs.payment(target, account));
    }
  });
  afterAll(async () => {
    await jobs.close();
  });

  it.each(BAD_INPUTS.map(([number, path, code, named]) => [path, code, number, named] as const))(
    '%s with a good payment is 400 %s and says why (reliability %i, 20)',
    async (path, code, _, named) => {
      const payment = payments.get(path.replace(/\?.*/, ''));
      const answer = await jobs.pay(path, payment);
      const { message } = expectError(answer, 400, code);
      expect(message).toContain(named);
      expect(message).toMatch(REASONS[code] ?? /never/);
      expect(answer.headers.get('payment-response')).toBeNull();
    },
  );

  it('the payments that came with all of that still buy an answer each (reliability 20)', async () => {
    for (const [path, payment] of payments) {
      const target = jobs.targetOf(path);
      expectPaid(await jobs.pay(target, payment), account.address);
      expectError(await jobs.pay(target, payment), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it.each([
    ['an unreadable payment', 'x'],
    ['an empty payment', ''],
    ['a payment of another version', encodeHeader({ x402Version: 1 })],
  ])('bad input with %s is 400, not 402 (reliability 7)', async (_, header) => {
    const answer = await jobs.get('/v1/jobs/search?limit=0', { 'PAYMENT-SIGNATURE': header });
    expectError(answer, 400, 'INVALID_PARAMETER');
  });

  it('a long unknown name is cut in the message', async () => {
    const { message } = expectError(await jobs.get(`/v1/jobs/search?${'n'.repeat(4000)}=1`), 400, 'UNKNOWN_PARAMETER');
    expect(message.length).toBeLessThan(300);
  });
});
