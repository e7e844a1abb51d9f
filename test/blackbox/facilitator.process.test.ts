import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { oneRuntime } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { altered, encodeHeader, offerOf, type Payment, paymentFor, wallet } from '../support/wallet.ts';
import {
  bodyOf,
  expectPending,
  expectUnavailable,
  FACILITATOR_TOKEN,
  type Facilitated,
  openFacilitated,
  type Step,
  settled,
  transactionOf,
  valid,
} from './facilitated-server.ts';

const account = wallet();
const payTo = wallet().address;
const HASH = `0x${'ab'.repeat(32)}`;
const NETWORK = 'eip155:8453';
const payer = account.address;
const ADMIN_TOKEN = 'admin-token-canary-0123456789-0123456789';

const json = (status: number, body: unknown): Step => ({ status, body });
const refusal = (status: number, errorReason: string): Step =>
  json(status, { success: false, errorReason, transaction: '', network: NETWORK, payer });
const success = (change: Record<string, unknown>): Step =>
  json(200, { success: true, transaction: HASH, network: NETWORK, payer, ...change });
const redirect = (status: number): Step => ({ status, body: {}, headers: { location: '/trap' } });
const encoded = (encoding: string): Step => ({
  status: 200,
  raw: '\x1f\x8b\x08',
  headers: { 'content-encoding': encoding },
});

type Row = readonly [what: string, caseNumber: number, step: Step];

/** 402 with a receipt that says no; the authorization is free again. */
const REFUSED: readonly Row[] = [
  ['success false, insufficient_funds', 82, refusal(200, 'insufficient_funds')],
  ['success false after a good verification', 84, refusal(200, 'invalid_exact_evm_insufficient_balance')],
  [
    'a transaction that reverted',
    84,
    json(200, {
      success: false,
      errorReason: 'invalid_exact_evm_transaction_failed',
      transaction: HASH,
      network: NETWORK,
    }),
  ],
  ['status 400 with success false', 93, refusal(400, 'insufficient_funds')],
  ['status 422 with success false', 93, refusal(422, 'invalid_payload')],
  ['a window that closed on the way', 70, refusal(200, 'invalid_exact_evm_payload_authorization_valid_before')],
  ['a signature that was good a moment ago', 102, refusal(200, 'invalid_exact_evm_signature')],
  ['a delegated account’s signature that its code refuses', 57, refusal(200, 'invalid_exact_evm_signature')],
];

/** 503, the authorization stays reserved until the end is known. */
const PENDING: readonly Row[] = [
  ['a nonce that somebody else has used', 85, refusal(200, 'invalid_exact_evm_nonce_already_used')],
  ['no success', 86, json(200, { transaction: HASH, network: NETWORK, payer })],
  ['success "true"', 86, success({ success: 'true' })],
  ['success 1', 86, success({ success: 1 })],
  ['success null', 86, success({ success: null })],
  ['success on another network', 87, success({ network: 'eip155:84532' })],
  ['success without a network', 87, success({ network: undefined })],
  ['success for another payer', 87, success({ payer: payTo })],
  ['success for another amount', 87, success({ amount: '1' })],
  ['success without a transaction', 87, success({ transaction: undefined })],
  ['success with an empty transaction', 87, success({ transaction: '' })],
  ['success with a short transaction', 87, success({ transaction: '0xabcd' })],
  ['success with a transaction that is no text', 87, success({ transaction: 1 })],
  ['HTML', 90, { status: 200, raw: '<html>ok</html>' }],
  ['nothing', 90, { status: 200, raw: '' }],
  ['truncated JSON', 90, { status: 200, raw: '{"success":true,"transaction":"0x' }],
  ['an empty object', 90, json(200, {})],
  ['an array', 90, json(200, [])],
  ['null', 90, { status: 200, raw: 'null' }],
  ['blanks without end', 91, 'flood'],
  ['a gzip body', 91, encoded('gzip')],
  ['a thousand layers of encoding', 91, encoded(Array(1000).fill('gzip').join(', '))],
  ...[301, 302, 303, 307, 308].map((status): Row => [`redirect ${status}`, 92, redirect(status)]),
  ['a reset connection', 96, 'reset'],
  ['a closed connection', 96, 'close'],
  ...[500, 502, 503, 504].map((status): Row => [`status ${status}`, 96, json(status, { error: 'down' })]),
  ['status 500 with success false', 96, refusal(500, 'insufficient_funds')],
  ['status 404', 96, json(404, { error: 'no such path' })],
  ['success with status 500', 96, json(500, { success: true, transaction: HASH, network: NETWORK })],
  ['settlement_pending without a hash', 97, refusal(200, 'settlement_pending')],
  ['unexpected_settle_error', 96, refusal(200, 'unexpected_settle_error')],
];

/** 503, nothing was charged, the authorization is free again. */
const UNAVAILABLE: readonly Row[] = [
  ['status 401', 93, json(401, { error: 'secret words of the facilitator' })],
  ['status 403', 93, json(403, { error: 'secret words of the facilitator' })],
  ['status 429', 94, { status: 429, body: { error: 'slow down' }, headers: { 'retry-after': '7' } }],
];

const VERIFY_INVALID: readonly Row[] = [
  ['isValid false', 82, json(200, { isValid: false, invalidReason: 'insufficient_funds', payer })],
  ['isValid false with status 400', 82, json(400, { isValid: false, invalidReason: 'insufficient_funds' })],
  ['isValid false with words of its own', 82, json(200, { isValid: false, invalidReason: 'some secret words <b>' })],
];

const VERIFY_UNAVAILABLE: readonly Row[] = [
  ['isValid "true"', 86, json(200, { isValid: 'true', payer })],
  ['isValid 1', 86, json(200, { isValid: 1, payer })],
  ['another payer', 87, json(200, { isValid: true, payer: payTo })],
  ['HTML', 90, { status: 200, raw: '<html>ok</html>' }],
  ['an empty object', 90, json(200, {})],
  ['truncated JSON', 90, { status: 200, raw: '{"isValid":tr' }],
  ['blanks without end', 91, 'flood'],
  ['a gzip body', 91, encoded('gzip')],
  ['a redirect', 92, redirect(307)],
  ['status 401', 93, json(401, {})],
  ['status 403', 93, json(403, {})],
  ['status 429', 94, json(429, {})],
  ['status 500', 96, json(500, {})],
  ['status 503 with isValid true', 96, json(503, { isValid: true })],
  ['a reset connection', 96, 'reset'],
  ['a closed connection', 96, 'close'],
];

/** The state is counted every five seconds. */
const COUNTED_MS_MAX = 12_000;

describe.each(oneRuntime('bun'))('a facilitator over HTTP, under %s', (runtime) => {
  let shop: Facilitated;
  /** Payments whose end was unknown when their answer left. */
  const held: Payment[] = [];
  beforeAll(async () => {
    shop = await openFacilitated(runtime, payTo, { ADMIN_TOKEN });
  });
  afterAll(async () => {
    expect(shop.facilitator.callsOf('/trap')).toEqual([]);
    expect(await shop.close()).toBe(0);
  });

  const pay = (payment: unknown): Promise<Answer> => shop.jobs.pay(shop.jobs.search, payment);
  /** Nonces of all sales whose answer did not go out. */
  const undelivered = async (): Promise<readonly string[]> => {
    const list = await shop.jobs.get('/admin/v1/sales?undelivered=true&limit=500', {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    });
    const { data } = JSON.parse(list.text) as { data: { sales: { nonce: string }[] } };
    return data.sales.map(({ nonce }) => nonce);
  };

  it('it is given our own requirements and re-written fields, whatever the client sent (reliability 61, 33, 63)', async () => {
    const offer = await offerOf(shop.jobs.url(shop.jobs.search));
    const payment = await paymentFor(offer, account);
    const { authorization } = payment.payload;
    const sent = JSON.stringify({
      ...(altered(payment, {
        accepted: {
          asset: payment.accepted.asset.toLowerCase(),
          payTo: payTo.toLowerCase(),
          maxTimeoutSeconds: 60,
          extra: { name: 'USD Coin', version: '2', more: 'canary' },
          more: 'canary',
        },
        authorization: { from: authorization.from.toLowerCase(), more: 'canary' },
      }) as object),
      extensions: { junk: 'canary' },
      note: 'canary',
    }).replace('"value":', '"value":"1","value":');
    expectPaid(await pay(Buffer.from(sent).toString('base64')), payer);
    const requirements = offer.accepts[0];
    const [verify, ...verifyMore] = shop.callsOf(payment, '/verify');
    const [settle, ...settleMore] = shop.callsOf(payment, '/settle');
    expect([...verifyMore, ...settleMore]).toEqual([]);
    for (const call of [verify!, settle!]) {
      expect(call.method).toBe('POST');
      expect(call.headers['content-type']).toBe('application/json');
      expect(call.headers.authorization).toBe(`Bearer ${FACILITATOR_TOKEN}`);
      expect(call.body).not.toContain('canary');
      const body = bodyOf(call);
      expect(Object.keys(body).sort()).toEqual(['paymentPayload', 'paymentRequirements', 'x402Version']);
      expect(body.x402Version).toBe(2);
      expect(body.paymentRequirements).toEqual(requirements);
      expect(body.paymentPayload).toEqual({
        x402Version: 2,
        resource: { ...offer.resource, url: shop.jobs.url('/v1/jobs/search') },
        accepted: requirements,
        payload: { signature: payment.payload.signature, authorization },
      });
    }
  });

  it('an echoed Bazaar block is replaced by our own, and it learns no payment identifier (reliability 61)', async () => {
    const offer = await offerOf(shop.jobs.url(shop.jobs.search));
    const { bazaar } = offer.extensions as Record<string, unknown>;
    const payment = await paymentFor(offer, account);
    const identifier = { 'payment-identifier': { info: { required: false, id: 'pay_canary_0123456789' } } };
    expectPaid(await pay({ ...payment, extensions: { bazaar: { info: 'canary' }, other: {}, ...identifier } }), payer);
    const calls = [...shop.callsOf(payment, '/verify'), ...shop.callsOf(payment, '/settle')];
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(bodyOf(call).paymentPayload.extensions).toEqual({ bazaar });
      expect(call.body).not.toContain('canary');
    }
  });

  it('bad input with a good payment asks the facilitator nothing (reliability 20)', async () => {
    const payment = await shop.payment(account);
    expectError(await shop.jobs.pay('/v1/jobs/search?limit=0', payment), 400, 'INVALID_PARAMETER');
    expect(shop.callsOf(payment, '/verify')).toEqual([]);
    expectPaid(await pay(payment), payer);
  });

  it('a signature of 65 bytes by somebody else is refused before the facilitator is asked (reliability 50)', async () => {
    const payment = await shop.payment(account);
    const other = await shop.payment(account);
    const forged = altered(payment, { signature: other.payload.signature });
    expectError(await pay(forged), 402, 'PAYMENT_INVALID');
    expect(shop.callsOf(payment, '/verify')).toEqual([]);
  });

  it('the signature of a contract wallet is for the facilitator to judge (reliability 56)', async () => {
    const long = (payment: Payment) =>
      altered(payment, { signature: `${payment.payload.signature}${'00'.repeat(32)}` });
    const good = await shop.payment(account);
    expectPaid(await pay(long(good)), payer);
    expectError(await pay(long(good)), 409, 'PAYMENT_ALREADY_USED');
    // What was sold is public, so a replay costs no question to the facilitator.
    expect(shop.callsOf(good, '/verify')).toHaveLength(1);
    const bad = await shop.payment(account);
    shop.plan(bad, '/verify', json(200, { isValid: false, invalidReason: 'invalid_exact_evm_signature' }));
    expectError(await pay(long(bad)), 402, 'PAYMENT_INVALID');
    expect(shop.callsOf(bad, '/settle')).toEqual([]);
  });

  it.each(REFUSED)(
    'settlement says %s: 402, no data, and the authorization is free (reliability %i)',
    async (_, __, step) => {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', step, settled);
      const answer = await pay(payment);
      expectError(answer, 402, 'PAYMENT_NOT_SETTLED');
      expect(receiptOf(answer)).toMatchObject({ success: false, network: NETWORK, payer });
      expect(receiptOf(answer).errorReason).toMatch(/^[a-z0-9_]+$/);
      expectPaid(await pay(payment), payer);
    },
  );

  it.each(PENDING)('settlement says %s: 503, and the authorization is held (reliability %i)', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', step, settled);
    const answer = await pay(payment);
    const { transaction } = receiptOf(answer);
    expectPending(answer, transaction);
    expect(['', HASH]).toContain(transaction);
    expectError(await pay(payment), 409, 'PAYMENT_ALREADY_USED');
    held.push(payment);
  });

  it('each of these, settled after all, is 409 with its receipt, verified once and always asked in the same words (reliability 98)', async () => {
    expect(held.length).toBe(PENDING.length);
    for (const payment of held) {
      const { nonce } = payment.payload.authorization;
      let last: Answer | undefined;
      await until('the settled record', async () => {
        last = await pay(payment);
        expectError(last, 409, 'PAYMENT_ALREADY_USED');
        return receiptOf(last).success;
      });
      expect(receiptOf(last!)).toEqual({ success: true, transaction: transactionOf(nonce), network: NETWORK, payer });
      expect(shop.callsOf(payment, '/verify').length).toBe(1);
      const bodies = shop.callsOf(payment, '/settle').map(({ body }) => body);
      expect(bodies.length).toBe(2);
      expect(new Set(bodies).size).toBe(1);
    }
  });

  it('and is in the books as a sale whose answer did not go out (reliability 98)', async () => {
    const nonces = held.map(({ payload }) => payload.authorization.nonce.toLowerCase());
    // That an answer went out is recorded after it.
    await expect.poll(async () => (await undelivered()).toSorted()).toEqual(nonces.toSorted());
    const countOf = async (): Promise<number> =>
      new MetricsPage((await shop.jobs.get('/metrics')).text).value('paygrade_sales_undelivered');
    await expect.poll(countOf, { timeout: COUNTED_MS_MAX }).toBe(held.length);
  });

  it('of an answer without end little is read (reliability 91)', () => {
    // Two floods a runtime, each cut at 64 KiB; what the sockets' buffers hold comes on top.
    expect(shop.facilitator.floodedBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it.each(UNAVAILABLE)(
    'settlement says %s: 503, and the authorization is free (reliability %i)',
    async (what, _, step) => {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', step, settled);
      const answer = await pay(payment);
      expectUnavailable(answer);
      expect(answer.text).not.toContain('secret');
      if (what.endsWith('429')) expect(answer.headers.get('retry-after')).toBe('7');
      expectPaid(await pay(payment), payer);
    },
  );

  it.each(VERIFY_INVALID)(
    'verification says %s: 402 without a receipt, and free (reliability %i)',
    async (_, __, step) => {
      const payment = await shop.payment(account);
      shop.plan(payment, '/verify', step, valid);
      const answer = await pay(payment);
      expectError(answer, 402, 'PAYMENT_INVALID');
      expect(answer.headers.get('payment-response')).toBeNull();
      expect(expectOffer(answer).error).toMatch(/^[a-z0-9_]+$/);
      expect(answer.text).not.toContain('secret');
      expect(shop.callsOf(payment, '/settle')).toEqual([]);
      expectPaid(await pay(payment), payer);
    },
  );

  it.each(VERIFY_UNAVAILABLE)('verification says %s: 503, and free (reliability %i)', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/verify', step, valid);
    expectUnavailable(await pay(payment));
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
    expectPaid(await pay(payment), payer);
  });

  it('two authorizations settled in one transaction are both good (reliability 88)', async () => {
    for (let i = 0; i < 2; i++) {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', success({}));
      expect(expectPaid(await pay(payment), payer).transaction).toBe(HASH);
    }
  });

  it('settlement_pending with a hash is asked once more, and then good (reliability 97)', async () => {
    const payment = await shop.payment(account);
    const pending = json(200, {
      success: false,
      errorReason: 'settlement_pending',
      transaction: HASH,
      network: NETWORK,
    });
    shop.plan(payment, '/settle', pending, success({}));
    expect(expectPaid(await pay(payment), payer).transaction).toBe(HASH);
    expect(shop.callsOf(payment, '/settle').length).toBe(2);
  });

  it('settlement_pending twice is 503 and carries the hash (reliability 97)', async () => {
    const payment = await shop.payment(account);
    const pending = json(200, {
      success: false,
      errorReason: 'settlement_pending',
      transaction: HASH,
      network: NETWORK,
    });
    shop.plan(payment, '/settle', pending, pending, success({}));
    expectPending(await pay(payment), HASH);
    const again = await pay(payment);
    expectError(again, 409, 'PAYMENT_ALREADY_USED');
    expect(receiptOf(again).transaction).toBe(HASH);
    await until('the settled record', async () => receiptOf(await pay(payment)).success);
  });

  it('an unknown settlement that turns out refused frees the authorization (reliability 96)', async () => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', 'reset', refusal(200, 'kyt_risk_detected'), settled);
    expectPending(await pay(payment), '');
    let last: Answer | undefined;
    await until('the release', async () => {
      last = await pay(payment);
      return last.status !== 409;
    });
    expectPaid(last!, payer);
  });

  it('an unknown company with a good payment is 404, and nothing is settled (reliability 103, 104)', async () => {
    const path = '/v1/jobs/company?company=unknown.example.org';
    const payment = await shop.payment(account, path);
    expectError(await shop.jobs.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expectError(await shop.jobs.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
  });

  it('300 identical requests at once are verified once and settled once (reliability 74)', async () => {
    const payment = await shop.payment(account);
    const answers = await Promise.all(Array.from({ length: 300 }, () => pay(payment)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.filter(({ status }) => status === 409).length).toBe(299);
    expect(shop.callsOf(payment, '/verify').length).toBe(1);
    expect(shop.callsOf(payment, '/settle').length).toBe(1);
  });

  it('while one settlement is under way, the same authorization is 409 everywhere (reliability 75)', async () => {
    const payment = await shop.payment(account);
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    shop.plan(payment, '/settle', async (call) => {
      await gate;
      return settled(call);
    });
    const first = pay(payment);
    await until('the settlement under way', () => shop.callsOf(payment, '/settle').length === 1);
    const second = await pay(payment);
    expectError(second, 409, 'PAYMENT_ALREADY_USED');
    expect(second.headers.get('retry-after')).toMatch(/^[1-9]/);
    expect(second.headers.get('payment-response')).toBeNull();
    release();
    expectPaid(await first, payer);
  });

  it('a client that hangs up before the settlement is not charged (reliability 107)', async () => {
    const payment = await shop.payment(account);
    const hangUp = new AbortController();
    shop.plan(
      payment,
      '/verify',
      async (call) => {
        hangUp.abort();
        await pause(300);
        await shop.jobs.get('/health'); // a server that has answered this has heard of it
        return valid(call);
      },
      valid,
    );
    const headers = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
    await expect(fetch(shop.jobs.url(shop.jobs.search), { headers, signal: hangUp.signal })).rejects.toThrow();
    await pause(600);
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
    expectPaid(await pay(payment), payer);
    expect(shop.callsOf(payment, '/settle').length).toBe(1);
  });

  it('a client that hangs up during the settlement is charged once and has a receipt (reliability 107)', async () => {
    const payment = await shop.payment(account);
    const hangUp = new AbortController();
    shop.plan(payment, '/settle', async (call) => {
      hangUp.abort();
      await pause(200);
      return settled(call);
    });
    const headers = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
    await expect(fetch(shop.jobs.url(shop.jobs.search), { headers, signal: hangUp.signal })).rejects.toThrow();
    await until('the settled record', async () => {
      const again = await pay(payment);
      expectError(again, 409, 'PAYMENT_ALREADY_USED');
      return again.headers.has('payment-response');
    });
    expect(receiptOf(await pay(payment))).toMatchObject({ success: true });
    expect(shop.callsOf(payment, '/settle').length).toBe(1);
    expect(await undelivered()).toContain(payment.payload.authorization.nonce.toLowerCase());
  });
});
