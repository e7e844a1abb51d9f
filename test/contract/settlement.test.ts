/**
 * Replay, races, balances and what is not charged, as the play ledger shows them (reliability 62, 73 to 110). What needs a
 * facilitator that lies or fails is in `blackbox/facilitator.process.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { ShiftedClock } from '../support/shifted-clock.ts';
import { altered, encodeHeader, type Hex, paymentFor, wallet } from '../support/wallet.ts';

const secondsAhead = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

describe(`replay and settlement, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const clock = new ShiftedClock();
  const account = wallet();
  beforeAll(async () => {
    jobs = await openJobsApp({}, { clock });
  });
  afterAll(async () => {
    await jobs.close();
  });

  it('the same header again is 409 with the original receipt, as often as it comes (reliability 73)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const receipt = expectPaid(await jobs.pay(jobs.search, payment), account.address);
    for (let i = 0; i < 5; i++) {
      const again = await jobs.pay(jobs.search, payment);
      expectError(again, 409, 'PAYMENT_ALREADY_USED');
      expect(receiptOf(again)).toEqual(receipt);
    }
  });

  it('a used authorization is 409 on another question of the same route (reliability 73)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expectError(await jobs.pay('/v1/jobs/search?keyword=rust', payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('a used authorization with bad input is 400: input is judged first (reliability 73)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expectError(await jobs.pay('/v1/jobs/search?limit=0', payment), 400, 'INVALID_PARAMETER');
  });

  it('the same payer and nonce, signed again with another window, is 409 (reliability 76)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    const { nonce } = payment.payload.authorization;
    for (const authorization of [
      { nonce, validBefore: secondsAhead(60) },
      { nonce, validAfter: '1' },
    ]) {
      const twin = await jobs.payment(jobs.search, account, { authorization });
      expectError(await jobs.pay(jobs.search, twin), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it('the same payer and nonce, signed again with the price of another route, is 409 there (reliability 76)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    const { nonce } = payment.payload.authorization;
    const twin = await jobs.payment(jobs.signals, account, { authorization: { nonce } });
    expectError(await jobs.pay(jobs.signals, twin), 409, 'PAYMENT_ALREADY_USED');
  });

  it('two signatures over one nonce at once buy one answer (reliability 76)', async () => {
    const nonce: Hex = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`;
    const payments = await Promise.all(
      [60, 61, 62, 63].map((seconds) =>
        jobs.payment(jobs.search, account, { authorization: { nonce, validBefore: secondsAhead(seconds) } }),
      ),
    );
    const answers = await Promise.all(payments.map((payment) => jobs.pay(jobs.search, payment)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('the same nonce of another payer is another authorization (reliability 77)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    const other = wallet();
    const { nonce } = payment.payload.authorization;
    const twin = await jobs.payment(jobs.search, other, { authorization: { nonce } });
    expectPaid(await jobs.pay(jobs.search, twin), other.address);
  });

  it('a replay after the window is 402 (reliability 81)', async () => {
    const payment = await jobs.payment(jobs.search, account, { authorization: { validBefore: secondsAhead(30) } });
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    expectError(await jobs.pay(jobs.search, payment), 409, 'PAYMENT_ALREADY_USED');
    clock.aheadMs += 24_100; // less than the six seconds that an authorization must still have
    expectError(await jobs.pay(jobs.search, payment), 402, 'PAYMENT_INVALID');
  });

  it('an unknown company is 404, costs nothing, and the authorization still buys once (reliability 104)', async () => {
    const payment = await jobs.payment(jobs.company, account);
    const unknown = '/v1/jobs/company?company=unknown.example.org';
    for (let i = 0; i < 3; i++) {
      const answer = await jobs.pay(unknown, payment);
      expectError(answer, 404, 'COMPANY_NOT_FOUND');
      expect(answer.headers.get('payment-response')).toBeNull();
    }
    expectPaid(await jobs.pay(jobs.company, payment), account.address);
    expectError(await jobs.pay(unknown, payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('a bad payment learns nothing of which companies there are (reliability 104)', async () => {
    const payment = await jobs.payment(jobs.company, account);
    const forged = altered(payment, { authorization: { nonce: `0x${'11'.repeat(32)}` } });
    for (const path of [jobs.company, '/v1/jobs/company?company=unknown.example.org']) {
      expectError(await jobs.pay(path, forged), 402, 'PAYMENT_INVALID');
    }
  });

  it('a paid 200 carries its receipt, and another payment another one (reliability 108)', async () => {
    const transactions = new Set<string>();
    for (const path of [jobs.search, jobs.company, jobs.signals]) {
      const payment = await jobs.payment(path, account);
      transactions.add(expectPaid(await jobs.pay(path, payment), account.address).transaction);
    }
    expect(transactions.size).toBe(3);
  });

  it('neither an offer nor a paid answer may be kept by a shared cache (reliability 109)', async () => {
    const unpaid = await jobs.get(jobs.search);
    const paid = await jobs.pay(jobs.search, await jobs.payment(jobs.search, account));
    for (const answer of [unpaid, paid]) {
      expect(answer.headers.get('cache-control')).toMatch(/(?:^|, )no-store$/);
      expect(answer.headers.get('etag')).toBeNull();
      expect(answer.headers.get('last-modified')).toBeNull();
      expect(answer.headers.get('expires')).toBeNull();
    }
    const conditional = await jobs.get(jobs.search, {
      'If-None-Match': '*',
      'If-Modified-Since': new Date().toUTCString(),
    });
    expectError(conditional, 402, 'PAYMENT_REQUIRED');
  });

  it('offers differ in nothing but the query of their resource (reliability 110)', async () => {
    const canary = 'canary5d1e';
    const offers = [];
    for (let i = 0; i < 20; i++) {
      const answer = await jobs.get(`/v1/jobs/search?keyword=${canary}${i}`, {
        'User-Agent': 'Mozilla',
        Accept: 'text/html',
      });
      expectError(answer, 402, 'PAYMENT_REQUIRED');
      const offer = expectOffer(answer);
      expect(offer.resource.description).not.toContain(canary);
      offers.push({ ...offer, resource: { ...offer.resource, url: offer.resource.url.replace(/\?.*/, '') } });
    }
    for (const offer of offers) expect(offer).toEqual(offers[0]);
  });

  it('a query over 1 KiB is left out of the resource, and the payment is good all the same (reliability 110)', async () => {
    const long = `/v1/jobs/search?keyword=${encodeURIComponent('\u{1F680}'.repeat(120))}`;
    const offer = await jobs.offer(long);
    expect(offer.resource.url).toBe(jobs.url('/v1/jobs/search'));
    expectPaid(await jobs.pay(long, await paymentFor(offer, account)), account.address);
  });
});

describe(`balances, under ${RUNTIME}`, () => {
  /** One company, or two searches and a half. */
  const BALANCE = '50000';
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp({ LOCAL_BALANCE: BALANCE });
  });
  afterAll(async () => {
    await jobs.close();
  });

  const expectRefused = (answer: Answer, payer: string): void => {
    expectError(answer, 402, 'PAYMENT_NOT_SETTLED');
    expect(receiptOf(answer)).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
      transaction: '',
      network: 'eip155:8453',
    });
    expect(receiptOf(answer).payer?.toLowerCase()).toBe(payer.toLowerCase());
  };

  it('an empty purse is 402 with a receipt that says so, and no data (reliability 82)', async () => {
    const account = wallet();
    const payment = await jobs.payment(jobs.signals, account);
    const first = await jobs.pay(jobs.signals, payment);
    expectRefused(first, account.address);
    // A definite refusal frees the authorization: it is refused again, not 409.
    expectRefused(await jobs.pay(jobs.signals, payment), account.address);
  });

  it('what is left after a refusal can still be spent (reliability 82)', async () => {
    const account = wallet();
    for (let i = 0; i < 2; i++) {
      expectPaid(await jobs.pay(jobs.search, await jobs.payment(jobs.search, account)), account.address);
    }
    expectRefused(await jobs.pay(jobs.search, await jobs.payment(jobs.search, account)), account.address);
  });

  it('fifty authorizations of a purse with one price in it buy two searches, and no third (reliability 83)', async () => {
    const account = wallet();
    const payments = await Promise.all(Array.from({ length: 50 }, () => jobs.payment(jobs.search, account)));
    const answers = await Promise.all(payments.map((payment) => jobs.pay(jobs.search, payment)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(2);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) expectRefused(answer, account.address);
    expect(refused.length).toBe(48);
  });
});

describe(`what is not charged, under ${RUNTIME}`, () => {
  it('without a catalogue there is no offer, and a paid request is 503 and not charged (reliability 103)', async () => {
    const jobs = await openJobsApp({ SNAPSHOT: 'none' });
    const payment = await paymentFor(await jobs.offer('/v1/callbacks', { method: 'POST' }), wallet());
    for (const path of ['/v1/jobs/search', '/v1/jobs/company?company=example.com', '/v1/jobs/signals']) {
      expectError(await jobs.get(path), 503, 'CATALOGUE_UNAVAILABLE');
      const answer = await jobs.pay(path, payment);
      expectError(answer, 503, 'CATALOGUE_UNAVAILABLE');
      expect(answer.headers.get('payment-response')).toBeNull();
    }
    expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    await jobs.close();
  });

  it('over the usage rate a good payment is 429 with Retry-After, and nothing is reserved (reliability 105)', async () => {
    const limit = 3;
    const jobs = await openJobsApp({
      RATE_LIMIT_PER_MINUTE: String(limit),
      TRUST_PROXY: 'true',
    });
    const account = wallet();
    const at = (address: string) => ({ 'X-Forwarded-For': address });
    const payment = await paymentFor(await jobs.offer(jobs.search, { headers: at('198.51.100.1') }), account);
    for (let i = 1; i < limit; i++) {
      expectError(await jobs.get(jobs.search, at('198.51.100.1')), 402, 'PAYMENT_REQUIRED');
    }
    const paid = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
    for (let i = 0; i < 3; i++) {
      const answer = await jobs.get(jobs.search, { ...paid, ...at('198.51.100.1') });
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      const waitSeconds = Number(answer.headers.get('retry-after'));
      expect(waitSeconds).toBeGreaterThanOrEqual(1);
      expect(waitSeconds).toBeLessThanOrEqual(60);
    }
    // Bad input is judged before the rate, and does not count.
    expectError(await jobs.get('/v1/jobs/search?limit=0', at('198.51.100.1')), 400, 'INVALID_PARAMETER');
    expectPaid(await jobs.get(jobs.search, { ...paid, ...at('198.51.100.2') }), account.address);
    await jobs.close();
  });

  it('a payment for the recipient of yesterday is 402 with today’s offer (reliability 62)', async () => {
    const [before, after] = [wallet().address, wallet().address];
    const baseUrl = 'http://shop.example';
    const first = await openJobsApp({ PAY_TO: before, BASE_URL: baseUrl });
    const account = wallet();
    const payment = await first.payment(first.search, account);
    expect(payment.accepted.payTo).toBe(before);
    await first.close();
    const second = await openJobsApp({ PAY_TO: after, BASE_URL: baseUrl });
    const answer = await second.pay(second.search, payment);
    expectError(answer, 402, 'PAYMENT_INVALID');
    expect(expectOffer(answer).accepts[0]?.payTo).toBe(after);
    // Yesterday's signature under today's terms.
    const mixed = altered(payment, { accepted: { payTo: after } });
    expectError(await second.pay(second.search, mixed), 402, 'PAYMENT_INVALID');
    await second.close();
  });
});
