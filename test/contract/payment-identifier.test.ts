/**
 * A lost answer is not lost: purchases under a `payment-identifier` (decisions §4), as customers meet them. Kills and restarts
 * are in test/suites/identifiers.ts and test/crash.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ID_LENGTH_MAX, LOCATION_LENGTH_MAX, NAME_LENGTH_MAX, URL_LENGTH_MAX } from '../../src/ingest/native.ts';
import { KEPT_MS } from '../../src/payment/reservations.ts';
import { MemoryReservations } from '../../src/storage/memory/reservations.ts';
import { type Answer, answerOf, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { ShiftedClock } from '../support/shifted-clock.ts';
import { encodeHeader, type Payment, paymentFor, wallet } from '../support/wallet.ts';

/** Escaped in JSON, and again in the JSON that is sealed, it takes seven bytes. */
const longest = (start: string, length: number): string => start.padEnd(length - 1, '\u0001').concat('.');

/** Ten active and ten closed jobs of the longest texts that native input permits. */
const longestJobs = (observedAt: string) =>
  Array.from({ length: 20 }, (_, i) =>
    jobLine({
      id: longest(`${i} `, ID_LENGTH_MAX),
      title: longest(`${i} `, NAME_LENGTH_MAX),
      company: longest('c', NAME_LENGTH_MAX),
      location: longest(`${i} `, LOCATION_LENGTH_MAX),
      source_url: `https://example.com/${i}?`.padEnd(URL_LENGTH_MAX, '/'),
      first_observed_at: observedAt,
      last_observed_at: observedAt,
      status: i < 10 ? 'active' : 'closed',
    }),
  );

describe(`payment identifiers on ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const clock = new ShiftedClock();
  const account = wallet();
  beforeAll(async () => {
    jobs = await openJobsApp({}, { clock });
  });
  afterAll(async () => {
    await jobs.close();
  });

  /** A payment with an identifier, as the official library adds it. */
  async function named(
    path: string,
    id: unknown,
    payer: PrivateKeyAccount = account,
    init: RequestInit = {},
    at: JobsApp = jobs,
  ): Promise<Payment & { extensions: unknown }> {
    const offer = await at.offer(path, init);
    const extensions = structuredClone(offer.extensions) as Record<string, { info: Record<string, unknown> }>;
    if (typeof id === 'string' && /^[\w-]{16,128}$/.test(id)) appendPaymentIdentifierToExtensions(extensions, id);
    else extensions['payment-identifier']!.info.id = id;
    const validBefore = clock.secondsAhead(120);
    return { ...(await paymentFor(offer, payer, { authorization: { validBefore } })), extensions };
  }

  const settledCount = async (): Promise<number> => {
    const page = new MetricsPage((await jobs.get('/metrics')).text);
    return ['searchJobs', 'createCallback']
      .map((operation) => page.value('paygrade_payments_total', { operation, outcome: 'settled' }) ?? 0)
      .reduce((sum, count) => sum + count, 0);
  };

  const create = async (payment: unknown, body = ''): Promise<Answer> =>
    answerOf(
      await jobs.transport.fetch('/v1/callbacks', {
        method: 'POST',
        headers: {
          ...(body === '' ? {} : { 'content-type': 'application/json' }),
          'PAYMENT-SIGNATURE': encodeHeader(payment),
        },
        ...(body === '' ? {} : { body }),
      }),
    );

  it('the same request with the same identifier and a new authorization gives the same bytes and receipt, uncharged', async () => {
    const id = generatePaymentId();
    const first = await jobs.pay(jobs.search, await named(jobs.search, id));
    expectPaid(first, account.address);
    const before = await settledCount();
    for (let i = 0; i < 3; i++) {
      const again = await jobs.pay(jobs.search, await named(jobs.search, id));
      expect(again.status).toBe(200);
      expect(again.text).toBe(first.text);
      expect(receiptOf(again)).toEqual(receiptOf(first));
      expect(again.headers.get('cache-control')).toBe('private, no-store');
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    }
    expect(await settledCount()).toBe(before);
  });

  it('the longest answer that a catalogue can give is kept like any other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-longest-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'jobs.snap');
    await buildSnapshot(file, longestJobs(new Date(clock.nowMs() - 3_600_000).toISOString()));
    const long = await openJobsApp({ SNAPSHOT: file }, { clock });
    onTestFinished(() => long.close());
    const path = '/v1/jobs/changes';
    const id = generatePaymentId();
    const first = await long.pay(path, await named(path, id, account, {}, long));
    expectPaid(first, account.address);
    const again = await long.pay(path, await named(path, id, account, {}, long));
    expect(again.text).toBe(first.text);
    expect(receiptOf(again)).toEqual(receiptOf(first));
  });

  it('the new authorization is neither reserved nor settled: it buys something else afterwards', async () => {
    const id = generatePaymentId();
    expectPaid(await jobs.pay(jobs.search, await named(jobs.search, id)), account.address);
    const second = await named(jobs.search, id);
    expect((await jobs.pay(jobs.search, second)).status).toBe(200);
    const { extensions: _, ...plain } = second;
    expectPaid(await jobs.pay(jobs.search, plain), account.address);
  });

  it('the authorization that was sold is 409, with the identifier or without', async () => {
    const payment = await named(jobs.search, generatePaymentId());
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expectError(await jobs.pay(jobs.search, payment), 409, 'PAYMENT_ALREADY_USED');
    const { extensions: _, ...plain } = payment;
    expectError(await jobs.pay(jobs.search, plain), 409, 'PAYMENT_ALREADY_USED');
    const other = { ...payment, extensions: (await named(jobs.search, generatePaymentId())).extensions };
    expectError(await jobs.pay(jobs.search, other), 409, 'PAYMENT_ALREADY_USED');
  });

  it('another question and another payer under a live identifier are 409, and charged nothing', async () => {
    const id = generatePaymentId();
    expectPaid(await jobs.pay(jobs.search, await named(jobs.search, id)), account.address);
    const before = await settledCount();
    const otherQuestion = '/v1/jobs/search?limit=2';
    expectError(await jobs.pay(otherQuestion, await named(otherQuestion, id)), 409, 'PAYMENT_IDENTIFIER_CONFLICT');
    const otherPayer = await named(jobs.search, id, wallet());
    expectError(await jobs.pay(jobs.search, otherPayer), 409, 'PAYMENT_IDENTIFIER_CONFLICT');
    expect(await settledCount()).toBe(before);
  });

  it('a forged payment of the payer gets nothing', async () => {
    const id = generatePaymentId();
    const paid = await named(jobs.search, id);
    expectPaid(await jobs.pay(jobs.search, paid), account.address);
    const forged = await named(jobs.search, id, wallet());
    const authorization = { ...forged.payload.authorization, from: account.address };
    const answer = await jobs.pay(jobs.search, { ...forged, payload: { ...forged.payload, authorization } });
    expectError(answer, 402, 'PAYMENT_INVALID');
  });

  it.each([
    ['too short', 'a'.repeat(15)],
    ['too long', 'a'.repeat(129)],
    ['of other characters', 'pay_0123456789abc.def'],
    ['with a line break', `${'a'.repeat(20)}\n`],
    ['a number', 1234567890123456],
    ['null', null],
    ['empty', ''],
  ])('an identifier that is %s is 402 with the offer', async (_, id) => {
    const answer = await jobs.pay(jobs.search, await named(jobs.search, id));
    expectOffer(answer);
    expectError(answer, 402, 'PAYMENT_INVALID');
  });

  it('an extension without an identifier is a purchase like any other', async () => {
    const offer = await jobs.offer(jobs.search);
    const payment = await jobs.payment(jobs.search, account, {
      authorization: { validBefore: clock.secondsAhead(120) },
    });
    expectPaid(await jobs.pay(jobs.search, { ...payment, extensions: offer.extensions }), account.address);
  });

  it('of many requests at once under one identifier one is charged; the others get its answer or are asked to come again', async () => {
    const id = generatePaymentId();
    const payments = await Promise.all(Array.from({ length: 8 }, () => named(jobs.search, id)));
    const before = await settledCount();
    const answers = await Promise.all(payments.map((payment) => jobs.pay(jobs.search, payment)));
    for (const answer of answers) {
      if (answer.status === 200) expect(answer.text).toBe(answers.find(({ status }) => status === 200)!.text);
      else {
        expectError(answer, 503, 'SETTLEMENT_PENDING');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
      }
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await settledCount()).toBe(before + 1);
    expect((await jobs.pay(jobs.search, await named(jobs.search, id))).status).toBe(200);
  });

  it('a purchase that ends uncharged frees its identifier', async () => {
    const id = generatePaymentId();
    const missing = '/v1/jobs/company?company=missing.example';
    expectError(await jobs.pay(missing, await named(missing, id)), 404, 'COMPANY_NOT_FOUND');
    expectPaid(await jobs.pay(jobs.search, await named(jobs.search, id)), account.address);
  });

  it('ten minutes after the settlement the identifier is free', async () => {
    const id = generatePaymentId();
    const first = await jobs.pay(jobs.search, await named(jobs.search, id));
    expectPaid(first, account.address);
    clock.aheadMs += KEPT_MS - 20_000;
    const kept = await jobs.pay(jobs.search, await named(jobs.search, id));
    expect(kept.text).toBe(first.text);
    clock.aheadMs += 20_000;
    const before = await settledCount();
    expectPaid(await jobs.pay(jobs.search, await named(jobs.search, id)), account.address);
    expect(await settledCount()).toBe(before + 1);
  });

  it('a callback that was paid for is given again with its token, also with a body, and none is created twice', async () => {
    const id = generatePaymentId();
    const init = { method: 'POST' };
    const first = await create(await named('/v1/callbacks', id, account, init), '{"a":1}');
    expect(first.status).toBe(201);
    const again = await create(await named('/v1/callbacks', id, account, init), '{"a":1}');
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    const other = await create(await named('/v1/callbacks', id, account, init), '{"a":2}');
    expectError(other, 409, 'PAYMENT_IDENTIFIER_CONFLICT');
    const { id: callbackId, read_token: token } = JSON.parse(first.text) as { id: string; read_token: string };
    const headers = { authorization: `Bearer ${token}` };
    expect((await jobs.get(`/v1/callbacks/${callbackId}/events`, headers)).status).toBe(200);
    await jobs.send(`/v1/callbacks/${callbackId}`, { method: 'DELETE', headers });
    const deleted = await create(await named('/v1/callbacks', id, account, init), '{"a":1}');
    expect(deleted.text).toBe(first.text);
    expect((await jobs.get(`/v1/callbacks/${callbackId}/events`, headers)).status).toBe(404);
  });

  it('a callback of which only the draft was kept, as after a kill, is the one that was created, with its token', async () => {
    const { replaceKept } = MemoryReservations.prototype;
    onTestFinished(() => void Object.assign(MemoryReservations.prototype, { replaceKept }));
    MemoryReservations.prototype.replaceKept = async () => {};
    const id = generatePaymentId();
    const bought = async () =>
      JSON.parse((await create(await named('/v1/callbacks', id, account, { method: 'POST' }))).text) as object;
    const first = await bought();
    expect(first).toHaveProperty('read_token');
    expect({ ...(await bought()), expires_at: '' }).toEqual({ ...first, expires_at: '' });
  });
});
