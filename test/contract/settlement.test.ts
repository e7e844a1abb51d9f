/**
 * Cases 73 to 110 of the reliability catalogue that the play ledger can show: replay, races, balances, and what is not
 * charged. What needs a facilitator that lies or fails is in `facilitator.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { exchange, requestText } from '../support/raw-socket.ts';
import { RUNTIMES } from '../support/server.ts';
import { altered, encodeHeader, type Hex, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { type Counter, openCounter } from './counter.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const secondsAhead = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

describe.each(RUNTIMES)('replay and settlement, under %s', (runtime) => {
  let counter: Counter;
  const account = wallet();
  beforeAll(async () => {
    counter = await openCounter(runtime);
  });
  afterAll(async () => {
    expect(await counter.server.stop()).toBe(0);
  });

  it('case 73: the same header again is 409 with the original receipt, as often as it comes', async () => {
    const payment = await counter.payment(counter.search, account);
    const receipt = expectPaid(await counter.pay(counter.search, payment), account.address);
    for (let i = 0; i < 5; i++) {
      const again = await counter.pay(counter.search, payment);
      expectError(again, 409, 'PAYMENT_ALREADY_USED');
      expect(receiptOf(again)).toEqual(receipt);
    }
  });

  it('case 73: a used authorization is 409 on another question of the same route', async () => {
    const payment = await counter.payment(counter.search, account);
    expectPaid(await counter.pay(counter.search, payment), account.address);
    expectError(await counter.pay('/v1/jobs/search?keyword=rust', payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('case 73: a used authorization with bad input is 400: input is judged first', async () => {
    const payment = await counter.payment(counter.search, account);
    expectPaid(await counter.pay(counter.search, payment), account.address);
    expectError(await counter.pay('/v1/jobs/search?limit=0', payment), 400, 'INVALID_PARAMETER');
  });

  it('case 76: the same payer and nonce, signed again with another window, is 409', async () => {
    const payment = await counter.payment(counter.search, account);
    expectPaid(await counter.pay(counter.search, payment), account.address);
    const { nonce } = payment.payload.authorization;
    for (const authorization of [
      { nonce, validBefore: secondsAhead(60) },
      { nonce, validAfter: '1' },
    ]) {
      const twin = await counter.payment(counter.search, account, { authorization });
      expectError(await counter.pay(counter.search, twin), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it('case 76: the same payer and nonce, signed again with the price of another route, is 409 there', async () => {
    const payment = await counter.payment(counter.search, account);
    expectPaid(await counter.pay(counter.search, payment), account.address);
    const { nonce } = payment.payload.authorization;
    const twin = await counter.payment(counter.signals, account, { authorization: { nonce } });
    expectError(await counter.pay(counter.signals, twin), 409, 'PAYMENT_ALREADY_USED');
  });

  it('case 76: two signatures over one nonce at once buy one answer', async () => {
    const nonce: Hex = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`;
    const payments = await Promise.all(
      [60, 61, 62, 63].map((seconds) =>
        counter.payment(counter.search, account, { authorization: { nonce, validBefore: secondsAhead(seconds) } }),
      ),
    );
    const answers = await Promise.all(payments.map((payment) => counter.pay(counter.search, payment)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('case 77: the same nonce of another payer is another authorization', async () => {
    const payment = await counter.payment(counter.search, account);
    expectPaid(await counter.pay(counter.search, payment), account.address);
    const other = wallet();
    const { nonce } = payment.payload.authorization;
    const twin = await counter.payment(counter.search, other, { authorization: { nonce } });
    expectPaid(await counter.pay(counter.search, twin), other.address);
  });

  it('case 81: a replay after the window is 402', async () => {
    const payment = await counter.payment(counter.search, account, { authorization: { validBefore: secondsAhead(8) } });
    expectPaid(await counter.pay(counter.search, payment), account.address);
    expectError(await counter.pay(counter.search, payment), 409, 'PAYMENT_ALREADY_USED');
    await pause(2100); // less than the six seconds that an authorization must still have
    expectError(await counter.pay(counter.search, payment), 402, 'PAYMENT_INVALID');
  });

  it('case 104: an unknown company is 404, costs nothing, and the authorization still buys once', async () => {
    const payment = await counter.payment(counter.company, account);
    const unknown = '/v1/jobs/company?company=unknown.example.org';
    for (let i = 0; i < 3; i++) {
      const answer = await counter.pay(unknown, payment);
      expectError(answer, 404, 'COMPANY_NOT_FOUND');
      expect(answer.headers.get('payment-response')).toBeNull();
    }
    expectPaid(await counter.pay(counter.company, payment), account.address);
    expectError(await counter.pay(unknown, payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('case 104: a bad payment learns nothing of which companies there are', async () => {
    const payment = await counter.payment(counter.company, account);
    const forged = altered(payment, { authorization: { nonce: `0x${'11'.repeat(32)}` } });
    for (const path of [counter.company, '/v1/jobs/company?company=unknown.example.org']) {
      expectError(await counter.pay(path, forged), 402, 'PAYMENT_INVALID');
    }
  });

  it('case 107: a client that hangs up gets nothing and the server serves on', async () => {
    const payment = await counter.payment(counter.search, account);
    const request = requestText('GET', counter.search, ['Host: x', `PAYMENT-SIGNATURE: ${encodeHeader(payment)}`]);
    await exchange(counter.port, request, { timeoutMs: 0 });
    await pause(100);
    // Whether the request was read before the hang-up is chance; either way at most one answer is ever bought.
    const answer = await counter.pay(counter.search, payment);
    expect([200, 409]).toContain(answer.status);
    expectError(await counter.pay(counter.search, payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('case 108: a paid 200 carries its receipt, and another payment another one', async () => {
    const transactions = new Set<string>();
    for (const path of [counter.search, counter.company, counter.signals]) {
      const payment = await counter.payment(path, account);
      transactions.add(expectPaid(await counter.pay(path, payment), account.address).transaction);
    }
    expect(transactions.size).toBe(3);
  });

  it('case 109: neither an offer nor a paid answer may be kept by a shared cache', async () => {
    const unpaid = await counter.get(counter.search);
    const paid = await counter.pay(counter.search, await counter.payment(counter.search, account));
    for (const answer of [unpaid, paid]) {
      expect(answer.headers.get('cache-control')).toMatch(/(?:^|, )no-store$/);
      expect(answer.headers.get('etag')).toBeNull();
      expect(answer.headers.get('last-modified')).toBeNull();
      expect(answer.headers.get('expires')).toBeNull();
    }
    const conditional = await counter.get(counter.search, {
      'If-None-Match': '*',
      'If-Modified-Since': new Date().toUTCString(),
    });
    expectError(conditional, 402, 'PAYMENT_REQUIRED');
  });

  it('case 110: offers differ in nothing but the query of their resource', async () => {
    const canary = 'canary5d1e';
    const offers = [];
    for (let i = 0; i < 20; i++) {
      const answer = await counter.get(`/v1/jobs/search?keyword=${canary}${i}`, {
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

  it('case 110: a query over 1 KiB is left out of the resource, and the payment is good all the same', async () => {
    const long = `/v1/jobs/search?keyword=${encodeURIComponent('\u{1F680}'.repeat(120))}`;
    const offer = await offerOf(counter.url(long));
    expect(offer.resource.url).toBe(counter.url('/v1/jobs/search'));
    expectPaid(await counter.pay(long, await paymentFor(offer, account)), account.address);
  });
});

describe.each(RUNTIMES)('balances, under %s', (runtime) => {
  /** One company, or two searches and a half. */
  const BALANCE = '50000';
  let counter: Counter;
  beforeAll(async () => {
    counter = await openCounter(runtime, { LOCAL_BALANCE: BALANCE });
  });
  afterAll(async () => {
    expect(await counter.server.stop()).toBe(0);
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

  it('case 82: an empty purse is 402 with a receipt that says so, and no data', async () => {
    const account = wallet();
    const payment = await counter.payment(counter.signals, account);
    const first = await counter.pay(counter.signals, payment);
    expectRefused(first, account.address);
    // A definite refusal frees the authorization: it is refused again, not 409.
    expectRefused(await counter.pay(counter.signals, payment), account.address);
  });

  it('case 82: what is left after a refusal can still be spent', async () => {
    const account = wallet();
    for (let i = 0; i < 2; i++) {
      expectPaid(await counter.pay(counter.search, await counter.payment(counter.search, account)), account.address);
    }
    expectRefused(await counter.pay(counter.search, await counter.payment(counter.search, account)), account.address);
  });

  it('case 83: fifty authorizations of a purse with one price in it buy two searches, and no third', async () => {
    const account = wallet();
    const payments = await Promise.all(Array.from({ length: 50 }, () => counter.payment(counter.search, account)));
    const answers = await Promise.all(payments.map((payment) => counter.pay(counter.search, payment)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(2);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) expectRefused(answer, account.address);
    expect(refused.length).toBe(48);
  });
});

describe.each(RUNTIMES)('what is not charged, under %s', (runtime) => {
  it('case 103: without a catalogue there is no offer, and a paid request is 503 and not charged', async () => {
    const counter = await openCounter(runtime, { SNAPSHOT: 'none' });
    const payment = await paymentFor(await offerOf(counter.url('/v1/callbacks'), { method: 'POST' }), wallet());
    for (const path of ['/v1/jobs/search', '/v1/jobs/company?company=example.com', '/v1/jobs/signals']) {
      expectError(await counter.get(path), 503, 'CATALOGUE_UNAVAILABLE');
      const answer = await counter.pay(path, payment);
      expectError(answer, 503, 'CATALOGUE_UNAVAILABLE');
      expect(answer.headers.get('payment-response')).toBeNull();
    }
    expectError(await counter.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    expect(await counter.server.stop()).toBe(0);
  });

  it('case 105: over the usage rate a good payment is 429 with Retry-After, and nothing is reserved', async () => {
    const limit = 3;
    const counter = await openCounter(runtime, {
      RATE_LIMIT_PER_MINUTE: String(limit),
      TRUST_PROXY: 'true',
    });
    const account = wallet();
    const at = (address: string) => ({ 'X-Forwarded-For': address });
    const payment = await paymentFor(
      await offerOf(counter.url(counter.search), { headers: at('198.51.100.1') }),
      account,
    );
    for (let i = 1; i < limit; i++) {
      expectError(await counter.get(counter.search, at('198.51.100.1')), 402, 'PAYMENT_REQUIRED');
    }
    const paid = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
    for (let i = 0; i < 3; i++) {
      const answer = await counter.get(counter.search, { ...paid, ...at('198.51.100.1') });
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      const waitSeconds = Number(answer.headers.get('retry-after'));
      expect(waitSeconds).toBeGreaterThanOrEqual(1);
      expect(waitSeconds).toBeLessThanOrEqual(60);
    }
    // Bad input is judged before the rate, and does not count.
    expectError(await counter.get('/v1/jobs/search?limit=0', at('198.51.100.1')), 400, 'INVALID_PARAMETER');
    expectPaid(await counter.get(counter.search, { ...paid, ...at('198.51.100.2') }), account.address);
    expect(await counter.server.stop()).toBe(0);
  });

  it('case 62: a payment for the recipient of yesterday is 402 with today’s offer', async () => {
    const [before, after] = [wallet().address, wallet().address];
    const baseUrl = 'http://shop.example';
    const first = await openCounter(runtime, { PAY_TO: before, BASE_URL: baseUrl });
    const account = wallet();
    const payment = await first.payment(first.search, account);
    expect(payment.accepted.payTo).toBe(before);
    expect(await first.server.stop()).toBe(0);
    const second = await openCounter(runtime, { PAY_TO: after, BASE_URL: baseUrl });
    const answer = await second.pay(second.search, payment);
    expectError(answer, 402, 'PAYMENT_INVALID');
    expect(expectOffer(answer).accepts[0]?.payTo).toBe(after);
    // Yesterday's signature under today's terms.
    const mixed = altered(payment, { accepted: { payTo: after } });
    expectError(await second.pay(second.search, mixed), 402, 'PAYMENT_INVALID');
    expect(await second.server.stop()).toBe(0);
  });
});
