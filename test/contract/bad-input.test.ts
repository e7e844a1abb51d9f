/**
 * Input is judged before payment (jobs-intelligence, "Common rules" 3): every bad query of the table, sent with a good
 * payment, is a 400 that names parameter and reason; the payment is neither looked at nor spent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectPaid } from '../support/answers.ts';
import { exchange, requestText } from '../support/raw-socket.ts';
import { RUNTIMES } from '../support/server.ts';
import { encodeHeader, type Payment, wallet } from '../support/wallet.ts';
import { type Counter, JOBS_PATHS, openCounter } from './counter.ts';
import { BAD_INPUTS } from './inputs.ts';

/** What the message says beside the name, by code. */
const REASONS: Readonly<Record<string, RegExp>> = {
  INVALID_PARAMETER: /^(?:`\w+` (?:must be|is not valid) |a parameter name is not valid )/,
  UNSUPPORTED_PERIOD: /^`period` must be `7d`/,
  UNKNOWN_PARAMETER: /^unknown query parameter ".*": this route takes `/,
  DUPLICATE_PARAMETER: /^`\w+` is given more than once/,
  MISSING_PARAMETER: /^`company` is required: /,
};

describe.each(RUNTIMES)('bad input with a good payment, under %s', (runtime) => {
  let counter: Counter;
  const account = wallet();
  const payments = new Map<string, Payment>();
  beforeAll(async () => {
    counter = await openCounter(runtime);
    for (const path of JOBS_PATHS) {
      const target = path === '/v1/jobs/company' ? counter.company : path;
      payments.set(path, await counter.payment(target, account));
    }
  });
  afterAll(async () => {
    expect(await counter.server.stop()).toBe(0);
  });

  it.each(BAD_INPUTS)('case %i, 20: %s with a good payment is 400 %s and says why', async (_, path, code, named) => {
    const payment = payments.get(path.replace(/\?.*/, ''));
    const header = `PAYMENT-SIGNATURE: ${encodeHeader(payment)}`;
    const { answers } = await exchange(
      counter.port,
      requestText('GET', path, ['Host: x', header, 'Connection: close']),
    );
    const answer = answers[0] as Answer;
    const { message } = expectError(answer, 400, code);
    expect(message).toContain(named);
    expect(message).toMatch(REASONS[code] ?? /never/);
    expect(answer.headers.get('payment-response')).toBeNull();
  });

  it('case 20: the payments that came with all of that still buy an answer each', async () => {
    for (const [path, payment] of payments) {
      const target = path === '/v1/jobs/company' ? counter.company : path;
      expectPaid(await counter.pay(target, payment), account.address);
      expectError(await counter.pay(target, payment), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it.each([
    ['an unreadable payment', 'x'],
    ['an empty payment', ''],
    ['a payment of another version', encodeHeader({ x402Version: 1 })],
  ])('case 7: bad input with %s is 400, not 402', async (_, header) => {
    const answer = await counter.get('/v1/jobs/search?limit=0', { 'PAYMENT-SIGNATURE': header });
    expectError(answer, 400, 'INVALID_PARAMETER');
  });

  it('a long unknown name is cut in the message', async () => {
    const { message } = expectError(
      await counter.get(`/v1/jobs/search?${'n'.repeat(4000)}=1`),
      400,
      'UNKNOWN_PARAMETER',
    );
    expect(message.length).toBeLessThan(300);
  });
});
