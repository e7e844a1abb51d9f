/** Creation from outside (callback.md; decisions §5; reliability, section F), paid for in the play ledger, on both runtimes. */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAIM_BYTES, LIFETIME_MS } from '../../src/callback/limits.ts';
import { callbackAnswer } from '../../src/modules/callbacks/answers.ts';
import type { RecoveryWorker } from '../../src/payment/signature/recovery-queue.ts';
import { bearer, type Callback, callbackCounts, outcomeOf } from '../support/callback-client.ts';
import { metricsOf } from '../support/metrics-page.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { promptWorker } from '../support/recovery.ts';
import { altered, buyOver, encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';
import { partOf } from '../support/whole.ts';

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe(`creating a callback on ${RUNTIME}`, () => {
  let server: OpenedApp;
  beforeAll(async () => {
    server = await openedApp({ SNAPSHOT: 'none', BASE_URL: 'http://api.test', HOOK_BASE_URL: 'http://hooks.test' });
  });
  afterAll(async () => {
    await server.close();
  });

  const create = (body?: string | Uint8Array, contentType?: string): Promise<Response> =>
    server.fetch(`/v1/callbacks`, {
      method: 'POST',
      ...(body === undefined ? {} : { body: body as BodyInit }),
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    });

  it.each<readonly [string | Uint8Array | undefined, string | undefined, string, string]>([
    [undefined, undefined, '402 PAYMENT_REQUIRED', 'no body'],
    [new Uint8Array(), 'application/json', '402 PAYMENT_REQUIRED', 'an empty body'],
    [new Uint8Array(), 'text/plain', '402 PAYMENT_REQUIRED', 'an empty body of any type'],
    ['{}', 'application/json', '402 PAYMENT_REQUIRED', 'an empty object'],
    [
      ' {"__proto__":{"x":1},"ttl":5}\n',
      'Application/JSON; charset=utf-8',
      '402 PAYMENT_REQUIRED',
      'unknown fields (136)',
    ],
    [`{"a":"${'x'.repeat(16_384 - 8)}"}`, 'application/json', '402 PAYMENT_REQUIRED', 'exactly 16 KiB'],
    [`{"a":"${'x'.repeat(16_384 - 7)}"}`, 'application/json', '413 PAYLOAD_TOO_LARGE', 'one byte more than 16 KiB'],
    ['x'.repeat(1_000_000), 'application/json', '413 PAYLOAD_TOO_LARGE', 'a megabyte'],
    ['[]', 'application/json', '400 INVALID_BODY', 'an array'],
    ['null', 'application/json', '400 INVALID_BODY', 'null'],
    ['"{"', 'application/json', '400 INVALID_BODY', 'a string'],
    ['{', 'application/json', '400 INVALID_JSON', 'no JSON'],
    [Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'application/json', '400 INVALID_JSON', 'no UTF-8'],
    [`{"a":${deep(255)}}`, 'application/json', '402 PAYMENT_REQUIRED', '256 arrays and objects in one another'],
    [`{"a":${deep(256)}}`, 'application/json', '400 INVALID_JSON', '257 of them'],
    ['{}', 'text/plain', '415 UNSUPPORTED_MEDIA_TYPE', 'another type'],
    [new TextEncoder().encode('{}'), undefined, '415 UNSUPPORTED_MEDIA_TYPE', 'no type'],
    ['{}', 'application/merge-patch+json', '415 UNSUPPORTED_MEDIA_TYPE', 'a type that only ends in JSON'],
  ])('$3 as $1 is answered $2 before payment (reliability 125)', async (body, contentType, outcome) => {
    expect(await outcomeOf(await create(body, contentType))).toBe(outcome);
  });

  it('says how deep a body may nest', async () => {
    expect(await (await create(deep(257), 'application/json')).json()).toMatchObject({
      error: { message: 'the body must be JSON in UTF-8, at most 256 arrays and objects deep' },
    });
  });

  it('claims nothing for the unpaid (reliability 135)', async () => {
    await Promise.all(Array.from({ length: 300 }, () => create().then(outcomeOf)));
    expect(await callbackCounts(server)).toMatchObject({ live: 0, claimedBytes: 0 });
  });

  it('gives a paid callback all of its fields, and lives ten minutes from the payment (reliability 131)', async () => {
    const beforeMs = Date.now();
    const response = await buyOver(server, '/v1/callbacks', wallet(), { method: 'POST' });
    const afterMs = Date.now();
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(response.headers.get('payment-response')).not.toBeNull();
    const callback = v.parse(callbackAnswer, await response.json());
    expect(callback).toMatchObject({
      callback_url: `http://hooks.test/hooks/${callback.id}`,
      events_url: `http://api.test/v1/callbacks/${callback.id}/events`,
      wait_url: `http://api.test/v1/callbacks/${callback.id}/wait`,
      limits: { events: 10, payload_bytes: 262_144 },
    });
    const endsMs = Date.parse(callback.expires_at);
    expect(endsMs).toBeGreaterThanOrEqual(beforeMs + LIFETIME_MS);
    expect(endsMs).toBeLessThanOrEqual(afterMs + LIFETIME_MS);
    // The token is in no other answer (reliability 130).
    for (const path of ['events', 'wait?timeout=1']) {
      const read = await server.fetch(`/v1/callbacks/${callback.id}/${path}`, { headers: bearer(callback) });
      expect(read.status).toBe(200);
      expect(await read.text()).not.toContain(callback.read_token.slice(10));
    }
  });

  it('buys one callback with one authorization, however often and however soon it is sent (reliability 132)', async () => {
    const url = '/v1/callbacks';
    const { live } = await callbackCounts(server);
    const payment = encodeHeader(await paymentFor(await offerFrom(server.fetch(url, { method: 'POST' })), wallet()));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        server.fetch(url, { method: 'POST', headers: { 'PAYMENT-SIGNATURE': payment } }).then(outcomeOf),
      ),
    );
    expect(outcomes.sort()).toEqual(['201', ...Array(7).fill('409 PAYMENT_ALREADY_USED')]);
    expect(await callbackCounts(server)).toMatchObject({ live: live + 1, claimedBytes: (live + 1) * CLAIM_BYTES });
  });

  it('charges nothing for a body that it refuses', async () => {
    const url = '/v1/callbacks';
    const payment = encodeHeader(await paymentFor(await offerFrom(server.fetch(url, { method: 'POST' })), wallet()));
    const headers = { 'PAYMENT-SIGNATURE': payment, 'content-type': 'application/json' };
    expect(await outcomeOf(await server.fetch(url, { method: 'POST', headers, body: '[' }))).toBe('400 INVALID_JSON');
    expect(await outcomeOf(await server.fetch(url, { method: 'POST', headers, body: '{}' }))).toBe('201');
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])('has no %s', async (method) => {
    const response = await server.fetch(`/v1/callbacks`, { method });
    expect(response.headers.get('allow')).toBe('POST');
    expect(await outcomeOf(response)).toBe('405 METHOD_NOT_ALLOWED');
  });

  describe('the rate of creations (decisions §2, CALLBACK_LIMIT_PER_MINUTE)', () => {
    const url = '/v1/callbacks';
    const from = (address: string, more: Record<string, string> = {}) => ({
      method: 'POST',
      headers: { 'x-forwarded-for': address, ...more },
    });

    it('counts by client network the creations whose body passed, paid or not, before the payment', async () => {
      const rated = await openedApp({ SNAPSHOT: 'none', TRUST_PROXY: 'true', CALLBACK_LIMIT_PER_MINUTE: '3' });
      const ask = (init: RequestInit) => rated.fetch(url, init).then(outcomeOf);
      const body = { body: '[', headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1' } };
      for (let i = 0; i < 5; i++) expect(await ask({ method: 'POST', ...body })).toBe('400 INVALID_JSON');
      const offer = await offerFrom(rated.fetch(url, from('192.0.2.1:1')));
      const payments = await Promise.all([wallet(), wallet()].map((account) => paymentFor(offer, account)));
      const [first, second] = payments.map((payment) => ({ 'payment-signature': encodeHeader(payment) }));
      expect(await ask(from('192.0.2.1:2', first))).toBe('201');
      expect(await ask(from('::ffff:192.0.2.1', first))).toBe('409 PAYMENT_ALREADY_USED');
      const refused = await rated.fetch(url, from('192.0.2.1', second));
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.headers.get('payment-required')).toBeNull();
      expect(await outcomeOf(refused)).toBe('429 RATE_LIMIT_EXCEEDED');
      expect(await ask(from('192.0.2.1'))).toBe('429 RATE_LIMIT_EXCEEDED');
      // Another client has a count of its own, and the refused payment is still good.
      expect(await ask(from('192.0.2.2', second))).toBe('201');
      await rated.close();
    });

    it('is off at 0', async () => {
      const open = await openedApp({ SNAPSHOT: 'none', CALLBACK_LIMIT_PER_MINUTE: '0' });
      for (let i = 0; i < 700; i++) expect((await open.fetch(url, { method: 'POST' })).status).toBe(402);
      await open.close();
    });
  });

  const forgedCount = partOf(1000, 200);
  it(`holds no capacity for ${forgedCount} forged creations in flight: an honest one finds room (reliability 126, 208)`, async () => {
    const held: (() => void)[] = [];
    let isHolding = true;
    const prompt = promptWorker();
    const worker: RecoveryWorker = {
      freeCount: () => 4,
      isHealthy: () => true,
      recoveryMs: () => 0.1,
      start: (job, done) => void (isHolding ? held.push(() => prompt.start(job, done)) : prompt.start(job, done)),
    };
    const variables = { SNAPSHOT: 'none', TRUST_PROXY: 'true', CALLBACK_BYTES: String(CLAIM_BYTES) };
    const one = await openedApp(variables, { recoveryWorker: worker });
    const url = '/v1/callbacks';
    const offer = await offerFrom(one.fetch(url, { method: 'POST' }));
    const [mine, forgedFrom] = [await paymentFor(offer, wallet()), await paymentFor(offer, wallet())];
    const create = (address: string, payment: unknown) =>
      one.fetch(url, {
        method: 'POST',
        headers: { 'x-forwarded-for': address, 'payment-signature': encodeHeader(payment) },
      });
    const forgeries = Array.from({ length: forgedCount }, (_, i) =>
      create(
        `198.51.100.${i % 8}`,
        altered(forgedFrom, { authorization: { nonce: `0x${i.toString(16).padStart(64, '0')}` } }),
      ),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(held.length).toBe(forgedCount);
    expect(await callbackCounts(one)).toMatchObject({ live: 0, claimedBytes: 0 });
    isHolding = false;
    expect((await one.fetch(url, { method: 'POST' })).status).toBe(402);
    expect(await outcomeOf(await create('192.0.2.1', mine))).toBe('201');
    for (const start of held) start();
    for (const response of await Promise.all(forgeries)) expect(await outcomeOf(response)).toBe('402 PAYMENT_INVALID');
    expect(await callbackCounts(one)).toMatchObject({ live: 1, claimedBytes: CLAIM_BYTES });
    await one.close();
  });

  it('frees the authorization when the room was claimed by another payment in the meantime (reliability 127)', async () => {
    const one = await openedApp({ SNAPSHOT: 'none', CALLBACK_BYTES: String(CLAIM_BYTES) });
    const url = '/v1/callbacks';
    const offer = await offerFrom(one.fetch(url, { method: 'POST' }));
    const payments = await Promise.all(Array.from({ length: 5 }, () => paymentFor(offer, wallet())));
    const pay = (payment: unknown) =>
      one.fetch(url, { method: 'POST', headers: { 'payment-signature': encodeHeader(payment) } });
    const answers = await Promise.all(payments.map(pay));
    const bought = answers.findIndex(({ status }) => status === 201);
    const callback = (await answers[bought]!.json()) as Callback;
    for (const [i, answer] of answers.entries()) {
      if (i === bought) continue;
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/);
      expect(answer.headers.get('payment-response')).toBeNull();
      expect(await outcomeOf(answer)).toBe('503 CALLBACK_CAPACITY_EXCEEDED');
    }
    expect((await metricsOf(one)).value('paygrade_reservations')).toBe(1);
    await one.fetch(`/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) });
    expect(await outcomeOf(await pay(payments[(bought + 1) % payments.length]))).toBe('201');
    await one.close();
  });

  it('gives the room back when the settlement refuses', async () => {
    const one = await openedApp({ SNAPSHOT: 'none', CALLBACK_BYTES: String(CLAIM_BYTES), LOCAL_BALANCE: '0' });
    const poor = await buyOver(one, '/v1/callbacks', wallet(), { method: 'POST' });
    expect(await outcomeOf(poor)).toBe('402 PAYMENT_NOT_SETTLED');
    expect(await callbackCounts(one)).toMatchObject({ live: 0, claimedBytes: 0 });
    await one.close();
  });

  describe('when there is room for two', () => {
    let small: OpenedApp;
    beforeAll(async () => {
      small = await openedApp({ SNAPSHOT: 'none', CALLBACK_BYTES: String(2 * CLAIM_BYTES) });
    });
    afterAll(() => small.close());

    it('offers nothing to a third, keeps the first two, and has room again when one ends (reliability 126, 127)', async () => {
      const url = '/v1/callbacks';
      const payer = wallet();
      const late = encodeHeader(await paymentFor(await offerFrom(small.fetch(url, { method: 'POST' })), payer));
      const callbacks: Callback[] = [];
      for (let i = 0; i < 2; i++) {
        callbacks.push((await (await buyOver(small, url, wallet(), { method: 'POST' })).json()) as Callback);
      }
      const unpaid = await small.fetch(url, { method: 'POST' });
      expect(unpaid.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(unpaid.headers.get('payment-required')).toBeNull();
      expect(await outcomeOf(unpaid)).toBe('503 CALLBACK_CAPACITY_EXCEEDED');
      const paidLate = () => small.fetch(url, { method: 'POST', headers: { 'PAYMENT-SIGNATURE': late } });
      expect(await outcomeOf(await paidLate())).toBe('503 CALLBACK_CAPACITY_EXCEEDED');
      for (const callback of callbacks) {
        const read = await small.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
        expect(read.status).toBe(200);
      }
      const [first] = callbacks as [Callback, Callback];
      await small.fetch(`/v1/callbacks/${first.id}`, { method: 'DELETE', headers: bearer(first) });
      expect(await outcomeOf(await paidLate())).toBe('201');
    });
  });
});
