/**
 * Cases 61 and 82 to 107 of the reliability catalogue: settlement through a facilitator over HTTP that refuses, fails, lies
 * or is slow. Each row says what the buyer sees; and whatever it was, data leaves only with a settlement.
 */
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid, receiptOf } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { expectAtPaceOf } from '../support/pace.ts';
import { RUNTIMES } from '../support/server.ts';
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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what: string, done: () => boolean | Promise<boolean>, timeoutMs = 6000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`${what} did not come to be in ${timeoutMs} ms`);
    await pause(25);
  }
}

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

type Row = readonly [caseNumber: number, what: string, step: Step];

/** 402 with a receipt that says no; the authorization is free again. */
const REFUSED: readonly Row[] = [
  [82, 'success false, insufficient_funds', refusal(200, 'insufficient_funds')],
  [84, 'success false after a good verification', refusal(200, 'invalid_exact_evm_insufficient_balance')],
  [
    84,
    'a transaction that reverted',
    json(200, {
      success: false,
      errorReason: 'invalid_exact_evm_transaction_failed',
      transaction: HASH,
      network: NETWORK,
    }),
  ],
  [93, 'status 400 with success false', refusal(400, 'insufficient_funds')],
  [93, 'status 422 with success false', refusal(422, 'invalid_payload')],
  [70, 'a window that closed on the way', refusal(200, 'invalid_exact_evm_payload_authorization_valid_before')],
  [102, 'a signature that was good a moment ago', refusal(200, 'invalid_exact_evm_signature')],
  [57, 'a delegated account’s signature that its code refuses', refusal(200, 'invalid_exact_evm_signature')],
];

/** 503, the authorization stays reserved until the end is known. */
const PENDING: readonly Row[] = [
  [85, 'a nonce that somebody else has used', refusal(200, 'invalid_exact_evm_nonce_already_used')],
  [86, 'no success', json(200, { transaction: HASH, network: NETWORK, payer })],
  [86, 'success "true"', success({ success: 'true' })],
  [86, 'success 1', success({ success: 1 })],
  [86, 'success null', success({ success: null })],
  [87, 'success on another network', success({ network: 'eip155:84532' })],
  [87, 'success without a network', success({ network: undefined })],
  [87, 'success for another payer', success({ payer: payTo })],
  [87, 'success for another amount', success({ amount: '1' })],
  [87, 'success without a transaction', success({ transaction: undefined })],
  [87, 'success with an empty transaction', success({ transaction: '' })],
  [87, 'success with a short transaction', success({ transaction: '0xabcd' })],
  [87, 'success with a transaction that is no text', success({ transaction: 1 })],
  [90, 'HTML', { status: 200, raw: '<html>ok</html>' }],
  [90, 'nothing', { status: 200, raw: '' }],
  [90, 'truncated JSON', { status: 200, raw: '{"success":true,"transaction":"0x' }],
  [90, 'an empty object', json(200, {})],
  [90, 'an array', json(200, [])],
  [90, 'null', { status: 200, raw: 'null' }],
  [91, 'blanks without end', 'flood'],
  [91, 'a gzip body', encoded('gzip')],
  [91, 'a thousand layers of encoding', encoded(Array(1000).fill('gzip').join(', '))],
  ...[301, 302, 303, 307, 308].map((status): Row => [92, `redirect ${status}`, redirect(status)]),
  [96, 'a reset connection', 'reset'],
  [96, 'a closed connection', 'close'],
  ...[500, 502, 503, 504].map((status): Row => [96, `status ${status}`, json(status, { error: 'down' })]),
  [96, 'status 500 with success false', refusal(500, 'insufficient_funds')],
  [96, 'status 404', json(404, { error: 'no such path' })],
  [96, 'success with status 500', json(500, { success: true, transaction: HASH, network: NETWORK })],
  [97, 'settlement_pending without a hash', refusal(200, 'settlement_pending')],
  [96, 'unexpected_settle_error', refusal(200, 'unexpected_settle_error')],
];

/** 503, nothing was charged, the authorization is free again. */
const UNAVAILABLE: readonly Row[] = [
  [93, 'status 401', json(401, { error: 'secret words of the facilitator' })],
  [93, 'status 403', json(403, { error: 'secret words of the facilitator' })],
  [94, 'status 429', { status: 429, body: { error: 'slow down' }, headers: { 'retry-after': '7' } }],
];

const VERIFY_INVALID: readonly Row[] = [
  [82, 'isValid false', json(200, { isValid: false, invalidReason: 'insufficient_funds', payer })],
  [82, 'isValid false with status 400', json(400, { isValid: false, invalidReason: 'insufficient_funds' })],
  [82, 'isValid false with words of its own', json(200, { isValid: false, invalidReason: 'some secret words <b>' })],
];

const VERIFY_UNAVAILABLE: readonly Row[] = [
  [86, 'isValid "true"', json(200, { isValid: 'true', payer })],
  [86, 'isValid 1', json(200, { isValid: 1, payer })],
  [87, 'another payer', json(200, { isValid: true, payer: payTo })],
  [90, 'HTML', { status: 200, raw: '<html>ok</html>' }],
  [90, 'an empty object', json(200, {})],
  [90, 'truncated JSON', { status: 200, raw: '{"isValid":tr' }],
  [91, 'blanks without end', 'flood'],
  [91, 'a gzip body', encoded('gzip')],
  [92, 'a redirect', redirect(307)],
  [93, 'status 401', json(401, {})],
  [93, 'status 403', json(403, {})],
  [94, 'status 429', json(429, {})],
  [96, 'status 500', json(500, {})],
  [96, 'status 503 with isValid true', json(503, { isValid: true })],
  [96, 'a reset connection', 'reset'],
  [96, 'a closed connection', 'close'],
];

describe.each(RUNTIMES)('a facilitator over HTTP, under %s', (runtime) => {
  let shop: Facilitated;
  /** Payments whose end was unknown when their answer left. */
  const held: Payment[] = [];
  beforeAll(async () => {
    shop = await openFacilitated(runtime, payTo);
  });
  afterAll(async () => {
    expect(shop.facilitator.callsOf('/trap')).toEqual([]);
    expect(await shop.close()).toBe(0);
  });

  const pay = (payment: unknown): Promise<Answer> => shop.jobs.pay(shop.jobs.search, payment);

  it('case 61, 33, 63: it is given our own requirements and re-written fields, whatever the client sent', async () => {
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

  it('case 61: an echoed Bazaar block is replaced by our own', async () => {
    const offer = await offerOf(shop.jobs.url(shop.jobs.search));
    const payment = await paymentFor(offer, account);
    expectPaid(await pay({ ...payment, extensions: { bazaar: { info: 'canary' }, other: {} } }), payer);
    const [settle] = shop.callsOf(payment, '/settle');
    expect(bodyOf(settle!).paymentPayload.extensions).toEqual(offer.extensions);
  });

  it('case 20: bad input with a good payment asks the facilitator nothing', async () => {
    const payment = await shop.payment(account);
    expectError(await shop.jobs.pay('/v1/jobs/search?limit=0', payment), 400, 'INVALID_PARAMETER');
    expect(shop.callsOf(payment, '/verify')).toEqual([]);
    expectPaid(await pay(payment), payer);
  });

  it('case 50: a signature of 65 bytes by somebody else is refused before the facilitator is asked', async () => {
    const payment = await shop.payment(account);
    const other = await shop.payment(account);
    const forged = altered(payment, { signature: other.payload.signature });
    expectError(await pay(forged), 402, 'PAYMENT_INVALID');
    expect(shop.callsOf(payment, '/verify')).toEqual([]);
  });

  it('case 56: the signature of a contract wallet is for the facilitator to judge', async () => {
    const long = (payment: Payment) =>
      altered(payment, { signature: `${payment.payload.signature}${'00'.repeat(32)}` });
    const good = await shop.payment(account);
    expectPaid(await pay(long(good)), payer);
    expectError(await pay(long(good)), 409, 'PAYMENT_ALREADY_USED');
    const bad = await shop.payment(account);
    shop.plan(bad, '/verify', json(200, { isValid: false, invalidReason: 'invalid_exact_evm_signature' }));
    expectError(await pay(long(bad)), 402, 'PAYMENT_INVALID');
    expect(shop.callsOf(bad, '/settle')).toEqual([]);
  });

  it.each(REFUSED)('case %i: settlement says %s: 402, no data, and the authorization is free', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', step, settled);
    const answer = await pay(payment);
    expectError(answer, 402, 'PAYMENT_NOT_SETTLED');
    expect(receiptOf(answer)).toMatchObject({ success: false, network: NETWORK, payer });
    expect(receiptOf(answer).errorReason).toMatch(/^[a-z0-9_]+$/);
    expectPaid(await pay(payment), payer);
  });

  it.each(PENDING)('case %i: settlement says %s: 503, and the authorization is held', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', step, settled);
    const answer = await pay(payment);
    const { transaction } = receiptOf(answer);
    expectPending(answer, transaction);
    expect(['', HASH]).toContain(transaction);
    expectError(await pay(payment), 409, 'PAYMENT_ALREADY_USED');
    held.push(payment);
  });

  it('case 98: each of these, settled after all, is 409 with its receipt, verified once and always asked in the same words', async () => {
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

  it('case 91: of an answer without end little is read', () => {
    // Two floods a runtime, each cut at 64 KiB; what the sockets' buffers hold comes on top.
    expect(shop.facilitator.floodedBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it.each(UNAVAILABLE)('case %i: settlement says %s: 503, and the authorization is free', async (_, what, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', step, settled);
    const answer = await pay(payment);
    expectUnavailable(answer);
    expect(answer.text).not.toContain('secret');
    if (what.endsWith('429')) expect(answer.headers.get('retry-after')).toBe('7');
    expectPaid(await pay(payment), payer);
  });

  it.each(VERIFY_INVALID)('case %i: verification says %s: 402 without a receipt, and free', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/verify', step, valid);
    const answer = await pay(payment);
    expectError(answer, 402, 'PAYMENT_INVALID');
    expect(answer.headers.get('payment-response')).toBeNull();
    expect(expectOffer(answer).error).toMatch(/^[a-z0-9_]+$/);
    expect(answer.text).not.toContain('secret');
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
    expectPaid(await pay(payment), payer);
  });

  it.each(VERIFY_UNAVAILABLE)('case %i: verification says %s: 503, and free', async (_, __, step) => {
    const payment = await shop.payment(account);
    shop.plan(payment, '/verify', step, valid);
    expectUnavailable(await pay(payment));
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
    expectPaid(await pay(payment), payer);
  });

  it('case 88: two authorizations settled in one transaction are both good', async () => {
    for (let i = 0; i < 2; i++) {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', success({}));
      expect(expectPaid(await pay(payment), payer).transaction).toBe(HASH);
    }
  });

  it('case 97: settlement_pending with a hash is asked once more, and then good', async () => {
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

  it('case 97: settlement_pending twice is 503 and carries the hash', async () => {
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

  it('case 96: an unknown settlement that turns out refused frees the authorization', async () => {
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

  it('case 103, 104: an unknown company with a good payment is 404, and nothing is settled', async () => {
    const path = '/v1/jobs/company?company=unknown.example.org';
    const payment = await shop.payment(account, path);
    expectError(await shop.jobs.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expectError(await shop.jobs.pay(path, payment), 404, 'COMPANY_NOT_FOUND');
    expect(shop.callsOf(payment, '/settle')).toEqual([]);
  });

  it('case 74: 300 identical requests at once are verified once and settled once', async () => {
    const payment = await shop.payment(account);
    const answers = await Promise.all(Array.from({ length: 300 }, () => pay(payment)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.filter(({ status }) => status === 409).length).toBe(299);
    expect(shop.callsOf(payment, '/verify').length).toBe(1);
    expect(shop.callsOf(payment, '/settle').length).toBe(1);
  });

  it('case 75: while one settlement is under way, the same authorization is 409 everywhere', async () => {
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

  it('case 107: a client that hangs up before the settlement is not charged', async () => {
    const payment = await shop.payment(account);
    const hangUp = new AbortController();
    shop.plan(
      payment,
      '/verify',
      async (call) => {
        hangUp.abort();
        await pause(300); // the server hears of it while it waits for us
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

  it('case 107: a client that hangs up during the settlement is charged once and has a receipt', async () => {
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
  });

  it('case 99: a slow facilitator fills the calls in flight; beyond them 503 before anything is reserved', async () => {
    const IN_FLIGHT_MAX = 256;
    const beyond = 20;
    const offer = await offerOf(shop.jobs.url(shop.jobs.search));
    const payments = await Promise.all(
      Array.from({ length: IN_FLIGHT_MAX + beyond }, () => paymentFor(offer, account)),
    );
    let reachedCount = 0;
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    for (const payment of payments) {
      shop.plan(payment, '/verify', async (call) => {
        reachedCount++;
        await gate;
        return valid(call);
      });
    }
    const expectServing = async (): Promise<void> => {
      expect((await shop.jobs.get('/health')).status).toBe(200);
      expectError(await shop.jobs.get(shop.jobs.search), 402, 'PAYMENT_REQUIRED');
    };
    let under: Promise<Awaited<ReturnType<typeof pay>>[]> = Promise.resolve([]);
    await expectAtPaceOf(expectServing, async (index) => {
      if (index === 0) {
        under = Promise.all(payments.slice(0, IN_FLIGHT_MAX).map((payment) => pay(payment)));
        await until('a full house', () => reachedCount === IN_FLIGHT_MAX, 20_000);
      }
      await expectServing();
    });
    for (const payment of payments.slice(IN_FLIGHT_MAX)) expectUnavailable(await pay(payment));
    expect(reachedCount).toBe(IN_FLIGHT_MAX);
    open();
    for (const answer of await under) expect(answer.status).toBe(200);
    expectPaid(await pay(payments[IN_FLIGHT_MAX]), payer);
  });
});

describe.each(RUNTIMES)('a facilitator that cannot be reached, under %s', (runtime) => {
  it('five failures in a row stop the offers, and one success brings them back', async () => {
    const shop = await openFacilitated(runtime, payTo);
    const { jobs, facilitator } = shop;
    try {
      await until('readiness', async () => (await jobs.get('/ready')).status === 200);
      const good = facilitator.scripts;
      const payment = await shop.payment(account);
      facilitator.scripts = { '/verify': ['reset'], '/settle': ['reset'], '/supported': ['reset'] };
      for (let failures = 1; failures <= 5; failures++) {
        expectUnavailable(await jobs.pay(jobs.search, payment));
        if (failures < 5) expectError(await jobs.get(jobs.search), 402, 'PAYMENT_REQUIRED');
      }
      for (const path of ['/v1/jobs/search', '/v1/jobs/company?company=a.com', '/v1/jobs/signals']) {
        expectUnavailable(await jobs.get(path));
      }
      expectUnavailable(await jobs.pay(jobs.search, payment));
      // What is wrong with a request is still said first.
      expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
      expect((await jobs.get('/health')).status).toBe(200);
      const ready = await jobs.get('/ready');
      expect(ready.status).toBe(503);
      expect(JSON.parse(ready.text)).toMatchObject({ settlement: false, snapshot: true });
      const probes = facilitator.callsOf('/supported').length;
      await until('a probe', () => facilitator.callsOf('/supported').length > probes);
      expectUnavailable(await jobs.get(jobs.search));
      facilitator.scripts = good;
      await until('offers again', async () => (await jobs.get(jobs.search)).status === 402);
      expect((await jobs.get('/ready')).status).toBe(200);
      expectPaid(await jobs.pay(jobs.search, payment), payer);
    } finally {
      await shop.close();
    }
  });

  it.each([
    ['95, 101', 'a refused connection', 'http://127.0.0.1:9'],
    ['95, 101', 'a name that does not resolve', 'http://facilitator.invalid'],
    ['95, 101', 'TLS where none is spoken', 'tls'],
  ])('case %s: %s at start: the server runs, is not ready, and charges nothing', async (_, __, address) => {
    const deaf = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const url = address === 'tls' ? `https://127.0.0.1:${(deaf.address() as AddressInfo).port}` : address;
    const shop = await openFacilitated(runtime, payTo, { FACILITATOR_URL: url });
    const { jobs } = shop;
    try {
      expect((await jobs.get('/health')).status).toBe(200);
      await until('the verdict of readiness', async () => (await jobs.get('/ready')).status === 503);
      const payment = await shop.payment(account);
      expectUnavailable(await jobs.pay(jobs.search, payment));
      expectUnavailable(await jobs.pay(jobs.search, payment));
    } finally {
      await shop.close();
      await new Promise((resolve) => deaf.close(resolve));
    }
  });
});

describe.each(RUNTIMES)('a catalogue that changes during a settlement, under %s', (runtime) => {
  it('case 106: the answer is the one that was computed before, whole', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'paygrade-swap-')), 'jobs.snap');
    await buildSnapshot(file, [jobLine({ id: 'old-1', title: 'Old job', last_observed_at: '2026-11-01T00:00:00Z' })]);
    const shop = await openFacilitated(runtime, payTo, { SNAPSHOT: file });
    try {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', async (call) => {
        await buildSnapshot(file, [
          jobLine({ id: 'new-1', title: 'New job', last_observed_at: '2026-11-02T00:00:00Z' }),
        ]);
        shop.jobs.server.child.kill('SIGHUP');
        await until('the reload', () => shop.jobs.server.stderr().includes('taken anew'));
        return settled(call);
      });
      const answer = await shop.jobs.pay(shop.jobs.search, payment);
      expectPaid(answer, payer);
      const { data, meta } = JSON.parse(answer.text);
      expect(data.jobs[0].id).toBe('old-1');
      expect(meta.freshness.last_observed_at).toBe('2026-11-01T00:00:00.000Z');
      const next = JSON.parse((await shop.jobs.pay(shop.jobs.search, await shop.payment(account))).text);
      expect(next.data.jobs[0].id).toBe('new-1');
      expect(next.meta.freshness.last_observed_at).toBe('2026-11-02T00:00:00.000Z');
    } finally {
      await shop.close();
    }
  });
});
