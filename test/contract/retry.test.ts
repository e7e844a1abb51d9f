/** The Retry API from outside: creation by key and by payment, reading, cancelling, usage (siblings §6), on both runtimes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Scope } from '../../src/accounts/scopes.ts';
import type { AppPorts } from '../../src/app/app.ts';
import { answerOf, expectError as expectAnswer } from '../support/answers.ts';
import { metricsOf } from '../support/metrics-page.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { quickTimers } from '../support/quick-timers.ts';
import { answer, failure, hanging, TargetsByHost } from '../support/targets-by-host.ts';
import { until } from '../support/until.ts';
import { buyOver, decodeHeader, encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const URL_OF = '/retry/v1/retries';
const ORDER = { request: { method: 'POST', url: 'https://good.example/orders', body: { a: 1 } } };
const IDEMPOTENT = { 'idempotency-key': 'an-idempotency-key-1' };
const JSON_TYPE = { 'content-type': 'application/json' };

async function bodyOf(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  return { status: response.status, body: await response.json() };
}

type Body = Record<string, unknown> & { readonly id: string; readonly read_token: string };

const opened: Retrying[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.app.close();
});

class Retrying {
  readonly app: OpenedApp;
  readonly outbound: TargetsByHost;

  constructor(app: OpenedApp, outbound: TargetsByHost) {
    this.app = app;
    this.outbound = outbound;
  }

  async admin(path: string, body: object): Promise<Record<string, unknown>> {
    const made = await this.app.fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...JSON_TYPE },
      body: JSON.stringify(body),
    });
    return (await made.json()) as Record<string, unknown>;
  }

  async key(scopes: readonly Scope[] = ['retries:read', 'retries:write'], organization = 'acme'): Promise<string> {
    return String((await this.admin('/admin/v1/keys', { organization, scopes })).key);
  }

  async keyWith(credits: number, organization = 'acme'): Promise<string> {
    await this.admin('/admin/v1/grants', { organization, kind: 'onboarding', amount: credits });
    return this.key(undefined, organization);
  }

  async saleCount(): Promise<number> {
    const books = await this.app.fetch('/admin/v1/sales', { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    return ((await books.json()) as { data: { sales: unknown[] } }).data.sales.length;
  }

  post(body: unknown, headers: Record<string, string> = {}, path = URL_OF): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.app.fetch(path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: text });
  }

  async get(path: string, token?: string) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return bodyOf(await this.app.fetch(`/retry${path}`, { headers }));
  }

  async status(id: string, token: string): Promise<Body> {
    return (await this.get(`/v1/retries/${id}`, token)).body as Body;
  }

  buy(body: unknown, headers: Record<string, string> = {}, account = wallet()): Promise<Response> {
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
    return buyOver(this.app, URL_OF, account, init);
  }
}

async function open(
  variables: Readonly<Record<string, string>> = {},
  ports: Partial<Pick<AppPorts, 'facilitatorFetch' | 'timers'>> = {},
): Promise<Retrying> {
  const outbound = new TargetsByHost()
    .target('good.example', () => answer(200, '{"big":12345678901234567890, "b":1}', JSON_TYPE))
    .target('gone.example', () => answer(404, 'no such thing', { 'content-type': 'text/plain' }))
    .target('slow.example', hanging)
    .target('hook.example', () => answer(204));
  const app = await openedApp({ SNAPSHOT: 'none', ADMIN_TOKEN, ...variables }, { outbound, ...ports });
  const retrying = new Retrying(app, outbound);
  opened.push(retrying);
  return retrying;
}

const expectError = async (response: Response, status: number, code: string) =>
  expectAnswer(await answerOf(response), status, code);

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe(`creation of retries, under ${RUNTIME}`, () => {
  it('sells a job for a payment, sends it at once and shows its result as it came', async () => {
    const one = await open();
    const bought = await one.buy({ ...ORDER, callback_url: 'https://hook.example/done' });
    expect(bought.status).toBe(201);
    expect(decodeHeader<{ success: boolean }>(bought.headers.get('payment-response'))).toMatchObject({ success: true });
    const made = (await bought.json()) as Body;
    expect(made).toMatchObject({ status: 'scheduled', status_url: `${one.app.url}/retry/v1/retries/${made.id}` });
    await until('the job', async () => (await one.status(made.id, made.read_token)).callback_status === 'delivered');
    const shown = await (await one.app.fetch(`${URL_OF}/${made.id}`, { headers: bearer(made.read_token) })).text();
    expect(shown).toContain('"body":{"big":12345678901234567890, "b":1}');
    expect(JSON.parse(shown)).toMatchObject({ status: 'succeeded', attempt_count: 1, failure: null });
    expect(one.outbound.seenBy('good.example')).toMatchObject([
      {
        method: 'POST',
        body: '{"a":1}',
        headers: {
          'content-type': 'application/json',
          'x-retry-id': made.id,
          'x-retry-attempt': '1',
          'idempotency-key': made.id,
        },
      },
    ]);
    const attempts = await one.get(`/v1/retries/${made.id}/attempts`, made.read_token);
    expect(attempts.body).toMatchObject({ attempt_count: 1, attempts: [{ number: 1, outcome: 'success' }] });
    const delivery = await one.get(`/v1/retries/${made.id}/callback`, made.read_token);
    expect(delivery.body).toMatchObject({ status: 'delivered', attempt_count: 1, last_status_code: 204 });
  });

  it('asks for an authorization that outlasts the look at the names', async () => {
    const one = await open();
    const account = wallet();
    const offer = await offerFrom(one.post(ORDER));
    const payment = async (seconds: number): Promise<Record<string, string>> => {
      const validBefore = String(Math.floor(Date.now() / 1000) + seconds);
      return {
        'PAYMENT-SIGNATURE': encodeHeader(await paymentFor(offer, account, { authorization: { validBefore } })),
      };
    };
    await expectError(await one.post(ORDER, await payment(10)), 402, 'PAYMENT_INVALID');
    // Once it arrives within four seconds.
    await expect.poll(async () => (await one.post(ORDER, await payment(15))).status).toBe(201);
  });

  it('signs the completion event so that the official library of Standard Webhooks accepts it', async () => {
    const one = await open();
    const order = { request: { method: 'GET', url: 'https://gone.example/' }, callback_url: 'https://hook.example/' };
    const made = (await (await one.buy(order)).json()) as Body;
    await until('the request', () => one.outbound.seenBy('hook.example').length === 1);
    const [event] = one.outbound.seenBy('hook.example');
    const webhook = new Webhook(String(made.callback_secret));
    expect(webhook.verify(event!.body!, event!.headers)).toMatchObject({
      type: 'retry.completed',
      retry_id: made.id,
      status: 'failed',
      attempt_count: 1,
      result: { status_code: 404, content_type: 'text/plain', body: 'no such thing', size_bytes: 13, truncated: false },
      failure: { code: 'HTTP_ERROR' },
    });
    expect(() => webhook.verify(`${event!.body} `, event!.headers)).toThrow();
  });

  it('charges a key one credit for each job, and nothing for a refusal', async () => {
    const one = await open();
    const key = await one.keyWith(2);
    const made = await one.post(ORDER, bearer(key));
    expect([made.status, made.headers.get('x-credits-charged'), made.headers.get('x-credits-remaining')]).toEqual([
      201,
      '1',
      '1',
    ]);
    expect((await made.json()) as Body).toMatchObject({ read_token: null, callback_secret: null });
    await expectError(
      await one.post({ request: { ...ORDER.request, method: 'HEAD' } }, bearer(key)),
      400,
      'INVALID_BODY',
    );
    expect((await one.post(ORDER, bearer(key))).status).toBe(201);
    await expectError(await one.post(ORDER, bearer(key)), 402, 'INSUFFICIENT_CREDITS');
    await until('the request', () => one.outbound.seen.length === 2);
    const usage = await one.get('/v1/usage', key);
    expect(usage.body).toMatchObject({
      retries_created: 2,
      attempts_made: 2,
      callbacks_delivered: 0,
      credits: { charged: 2, remaining: 0 },
    });
  });

  it('states the credits in every success with a key, also where nothing is charged, and in none with a read token', async () => {
    const one = await open();
    const key = await one.keyWith(3);
    const { id } = (await (await one.post(ORDER, bearer(key))).json()) as Body;
    const bought = (await (await one.buy(ORDER)).json()) as Body;
    const creditsOf = async (path: string, token: string, method = 'GET'): Promise<unknown[]> => {
      const { headers, status } = await one.app.fetch(`/retry${path}`, { method, headers: bearer(token) });
      return [
        status,
        ...['x-credits-charged', 'x-credits-remaining', 'cache-control'].map((name) => headers.get(name)),
      ];
    };
    for (const path of ['/v1/usage', ...['', '/attempts', '/callback'].map((rest) => `/v1/retries/${id}${rest}`)]) {
      expect(await creditsOf(path, key), path).toEqual([200, '0', '2', 'private, no-store']);
    }
    for (const rest of ['', '/attempts', '/callback']) {
      const path = `/v1/retries/${bought.id}${rest}`;
      expect(await creditsOf(path, String(bought.read_token)), path).toEqual([200, null, null, 'private, no-store']);
    }
    const waiting = { request: { method: 'GET', url: 'https://slow.example/' } };
    const other = ((await (await one.post(waiting, bearer(key))).json()) as Body).id;
    const cancelled = await creditsOf(`/v1/retries/${other}/cancel`, key, 'POST');
    expect(cancelled).toEqual([200, '0', '1', 'private, no-store']);
    expect(await creditsOf(`/v1/retries/${other}/cancel`, key, 'POST')).toEqual([409, null, null, 'no-store']);
  });

  it('lets the key decide where both are sent, and asks for it before the input', async () => {
    const one = await open();
    const offer = await offerFrom(one.post(ORDER));
    const payment = { 'payment-signature': encodeHeader(await paymentFor(offer, wallet())) };
    await expectError(await one.post('{', { ...payment, ...bearer('svc_key_no') }), 401, 'INVALID_API_KEY');
    const reading = await one.key(['retries:read']);
    await expectError(await one.post('{', { ...payment, ...bearer(reading) }), 403, 'INSUFFICIENT_SCOPE');
    await expectError(await one.post('{', payment), 400, 'INVALID_JSON');
    expect((await one.post(ORDER, payment)).status).toBe(201);
  });

  it('gives one job to a repeated idempotency key, however many race, and charges once', async () => {
    const one = await open();
    const key = await one.keyWith(10);
    const raced = await Promise.all(
      Array.from({ length: 5 }, () => one.post(ORDER, { ...bearer(key), ...IDEMPOTENT })),
    );
    expect(raced.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    const ids = await Promise.all(raced.map(async (each) => ((await each.json()) as Body).id));
    expect(new Set(ids).size).toBe(1);
    expect(raced.map(({ headers }) => headers.get('x-credits-charged')).sort()).toEqual(['0', '0', '0', '0', '1']);
    expect(new Set(raced.map(({ headers }) => headers.get('x-credits-remaining')))).toEqual(new Set(['9']));
    const other = { request: { ...ORDER.request, body: { a: 2 } } };
    await expectError(await one.post(other, { ...bearer(key), ...IDEMPOTENT }), 409, 'IDEMPOTENCY_CONFLICT');
    const rival = await one.keyWith(10, 'rival');
    expect((await one.post(other, { ...bearer(rival), ...IDEMPOTENT })).status).toBe(201);
    expect(((await one.get('/v1/usage', key)).body as Body).credits).toEqual({ charged: 1, remaining: 9 });
  });

  it('gives a payer who repeats the key the first answer without secrets, and the second payment stays free', async () => {
    const one = await open();
    const account = wallet();
    const order = { ...ORDER, callback_url: 'https://hook.example/' };
    const first = (await (await one.buy(order, IDEMPOTENT, account)).json()) as Body;
    const again = await one.buy(order, IDEMPOTENT, account);
    expect([again.status, again.headers.get('payment-response')]).toEqual([200, null]);
    expect(again.headers.has('x-credits-charged')).toBe(false);
    expect(await again.json()).toEqual({ ...first, read_token: null, callback_secret: null });
    await expectError(await one.buy(ORDER, IDEMPOTENT, account), 409, 'IDEMPOTENCY_CONFLICT');
    expect((await one.buy(order, IDEMPOTENT)).status).toBe(201);
  });

  it.each([
    ['', false],
    [', also after a restart', true],
  ])(
    'sells one job for a key whose first payment has an open outcome, and makes it of that payment%s',
    async (_, isRestarted) => {
      const STATE_DIR = isRestarted ? mkdtempSync(join(tmpdir(), 'paygrade-open-outcome-')) : ':memory:';
      onTestFinished(() => rmSync(STATE_DIR, { recursive: true, force: true }));
      let isLost = true;
      const facilitatorFetch = async (url: string): Promise<Response> => {
        if (!url.endsWith('/settle')) return Response.json({ isValid: true, kinds: [] });
        if (isLost) throw new TypeError('the connection was lost');
        return Response.json({ success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453' });
      };
      const PAY_TO = wallet().address;
      const variables = {
        STATE_DIR,
        SETTLEMENT: 'facilitator',
        FACILITATOR_URL: 'https://facilitator.example',
        PAY_TO,
      };
      let one = await open(variables, { facilitatorFetch, timers: quickTimers });
      const account = wallet();
      const order = { ...ORDER, callback_url: 'https://hook.example/' };
      await expectError(await one.buy(order, IDEMPOTENT, account), 503, 'SETTLEMENT_PENDING');
      const pending = await one.buy(order, IDEMPOTENT, account);
      expect(pending.headers.get('retry-after')).toBe('1');
      await expectError(pending, 503, 'SETTLEMENT_PENDING');
      await expectError(await one.buy(ORDER, IDEMPOTENT, account), 409, 'IDEMPOTENCY_CONFLICT');
      isLost = false;
      if (isRestarted) {
        await one.app.close();
        opened.splice(opened.indexOf(one), 1);
        one = await open(variables, { facilitatorFetch, timers: quickTimers });
      }
      let made = pending;
      await until('the settlement', async () => {
        made = await one.buy(order, IDEMPOTENT, account);
        return made.status !== 503;
      });
      expect(made.status).toBe(201);
      expect(decodeHeader<{ success: boolean }>(made.headers.get('payment-response'))).toMatchObject({ success: true });
      const body = (await made.json()) as Body;
      expect(body).toMatchObject({ read_token: expect.any(String), callback_secret: expect.any(String) });
      const again = await one.buy(order, IDEMPOTENT, account);
      expect([again.status, await again.json()]).toEqual([200, { ...body, read_token: null, callback_secret: null }]);
      expect(await one.saleCount()).toBe(1);
      await until('the request', () => one.outbound.seenBy('hook.example').length === 1);
      expect(one.outbound.seenBy('good.example').length).toBe(1);
    },
  );

  it('sells one job to a payer whose requests with one key race', async () => {
    const one = await open();
    const account = wallet();
    const offer = await offerFrom(one.post(ORDER));
    const raced = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const payment = encodeHeader(await paymentFor(offer, account));
        return one.post(ORDER, { ...IDEMPOTENT, 'PAYMENT-SIGNATURE': payment });
      }),
    );
    expect(raced.filter(({ status }) => status === 201).length).toBe(1);
    for (const each of raced.filter(({ status }) => status > 201)) await expectError(each, 503, 'SETTLEMENT_PENDING');
    expect(await one.saleCount()).toBe(1);
  });

  it('gives the key the job whose answer was lost with an unknown settlement and came under the payment identifier', async () => {
    let settleCount = 0;
    const facilitatorFetch = async (url: string): Promise<Response> => {
      if (!url.endsWith('/settle')) return Response.json({ isValid: true, kinds: [] });
      if (settleCount++ === 0) throw new TypeError('the connection was lost');
      return Response.json({ success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453' });
    };
    const one = await open(
      { SETTLEMENT: 'facilitator', FACILITATOR_URL: 'https://facilitator.example', PAY_TO: wallet().address },
      { facilitatorFetch, timers: quickTimers },
    );
    const account = wallet();
    const offer = await offerFrom(one.post(ORDER));
    const extensions = { 'payment-identifier': { info: { required: false, id: 'the-identifier-of-a-job' } } };
    const ask = async (more: object) =>
      one.post(ORDER, {
        ...IDEMPOTENT,
        'PAYMENT-SIGNATURE': encodeHeader({ ...(await paymentFor(offer, account)), ...more }),
      });
    await expectError(await ask({ extensions }), 503, 'SETTLEMENT_PENDING');
    let fetched = await ask({ extensions });
    await until('the settlement', async () => {
      if (fetched.status === 503) fetched = await ask({ extensions });
      return fetched.status !== 503;
    });
    expect(fetched.status).toBe(201);
    const made = (await fetched.json()) as Body;
    const again = await ask({});
    expect([again.status, again.headers.get('payment-response')]).toEqual([200, null]);
    expect(await again.json()).toEqual({ ...made, read_token: null });
    expect(settleCount).toBe(2);
  });

  it('looks the names up after the payment and before it settles, refuses free, and 30 times a minute at most', async () => {
    const one = await open();
    one.outbound.blocked.add('bad.example');
    const bad = { request: { method: 'GET', url: 'https://bad.example/' } };
    const account = wallet();
    const offer = await offerFrom(one.post(bad));
    expect(one.outbound.looks).toEqual([]);
    const payment = { 'payment-signature': encodeHeader(await paymentFor(offer, account)) };
    for (let i = 0; i < 30; i++) await expectError(await one.post(bad, payment), 400, 'TARGET_NOT_ALLOWED');
    const refused = await one.post(bad, payment);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/);
    await expectError(refused, 429, 'RATE_LIMIT_EXCEEDED');
    const hook = { ...ORDER, callback_url: 'https://bad.example/' };
    const { message } = await expectError(await one.buy(hook), 400, 'TARGET_NOT_ALLOWED');
    expect(message).toBe(
      '`callback_url` is not allowed: its name leads to an address that is not public, or not allowed with this port',
    );
    expect((await metricsOf(one.app)).value('paygrade_reservations')).toBe(0);
    const unknown = await one.buy({ request: { method: 'GET', url: 'https://unknown.example/' } });
    expect(unknown.status).toBe(201);
  });

  const bodyWith = (member: string, more = '"deadline_seconds": 60'): string =>
    `{"request": {"method": "POST", "url": "https://good.example/", ${member}}, ${more}}`;
  const headerNotSet = (name: string): string => `\`request.headers.${name}\` must not be set`;
  const REFUSED: readonly (readonly [string, unknown, string])[] = [
    ['request', {}, '`request` is required'],
    ['request.url', { request: { method: 'GET' } }, '`request.url` is required'],
    ['request.method', { request: { method: 'HEAD', url: 'https://good.example' } }, '`request.method` must be one of'],
    ['an unknown field', { ...ORDER, other: 1 }, 'unknown field `other`'],
    ['policy.max_attempts', { ...ORDER, policy: { max_attempts: 11 } }, '`policy.max_attempts` must be a whole number'],
    ['policy.retry_statuses', { ...ORDER, policy: { retry_statuses: [99] } }, '`policy.retry_statuses[0]` must be'],
    ['deadline_seconds', { ...ORDER, deadline_seconds: 59 }, '`deadline_seconds` must be a whole number from 60'],
    ['a body with GET', { request: { method: 'GET', url: 'https://good.example', body: null } }, '`request.body`'],
    [
      'a header of the connection',
      { request: { ...ORDER.request, headers: { 'Transfer-Encoding': 'chunked' } } },
      '`request.headers.Transfer-Encoding` must not be set',
    ],
    [
      'a value that is no field value',
      { request: { ...ORDER.request, headers: { 'x-a': 'one\r\ntwo' } } },
      '`request.headers.x-a` must have a field value',
    ],
    [
      'a value of another type',
      { request: { ...ORDER.request, headers: { 'x-a': 1 } } },
      '`request.headers.x-a` must be a string',
    ],
    // Bodies as text: written as objects these names would mean something else.
    ['a header __proto__', bodyWith('"headers": {"x-a": "1", "__proto__": "2"}'), headerNotSet('__proto__')],
    ['a header constructor', bodyWith('"headers": {"constructor": "2"}'), headerNotSet('constructor')],
    ['a header prototype', bodyWith('"headers": {"prototype": "2"}'), headerNotSet('prototype')],
    ['a header with an escape', bodyWith('"headers": {"\\u005f_proto__": "2"}'), headerNotSet('__proto__')],
    ['a header that is no text', bodyWith('"headers": {"__proto__": {"x-a": "1"}}'), headerNotSet('__proto__')],
    ['__proto__ of the body', bodyWith('"body": 1', '"__proto__": {}'), 'unknown field `__proto__`'],
    ['a constructor', bodyWith('"constructor": 1'), 'unknown field `request.constructor`'],
    ['policy.__proto__', bodyWith('"body": 1', '"policy": {"__proto__": {"max_attempts": 1}}'), '`policy.__proto__`'],
  ];
  it.each(REFUSED)('names the field of a bent body: %s', async (_, body, words) => {
    const one = await open();
    const refused = await one.post(body);
    expect(refused.headers.get('payment-required')).toBeNull();
    const { error } = (await refused.clone().json()) as { error: { message: string } };
    expect(error.message).toContain(words);
    await expectError(refused, 400, 'INVALID_BODY');
  });

  it('answers 503 about a job whose record is damaged, and everything else as before', async () => {
    const STATE_DIR = mkdtempSync(join(tmpdir(), 'paygrade-damaged-'));
    onTestFinished(() => rmSync(STATE_DIR, { recursive: true }));
    const one = await open({ STATE_DIR });
    const key = await one.keyWith(5);
    // Nothing is under way: each waits an hour for its second attempt.
    const order = {
      request: { method: 'GET', url: 'https://unknown.example/' },
      policy: { initial_delay_seconds: 3600 },
    };
    const ids: string[] = [];
    const keyOf = (i: number) => ({ ...bearer(key), 'Idempotency-Key': `the-key-of-a-job-${i}` });
    for (let i = 0; i < 3; i++) ids.push(((await (await one.post(order, keyOf(i))).json()) as Body).id);
    await until('three waiting jobs', async () =>
      (await Promise.all(ids.map((id) => one.get(`/v1/retries/${id}`, key)))).every(
        ({ body }) => (body as Body).status === 'waiting',
      ),
    );
    await one.app.close();
    opened.splice(opened.indexOf(one), 1);
    const database = new DatabaseSync(join(STATE_DIR, 'state.db'));
    database.prepare("UPDATE retry SET state = state || ' ' WHERE id = ?").run(ids[0]!);
    database.prepare("UPDATE retry SET secrets = x'00' WHERE id = ?").run(ids[1]!);
    database.close();
    const again = await open({ STATE_DIR });
    for (const path of ['', '/attempts', '/callback']) {
      await expectError(
        await again.app.fetch(`${URL_OF}/${ids[0]}${path}`, { headers: bearer(key) }),
        503,
        'STATE_UNAVAILABLE',
      );
    }
    await expectError(await again.post(order, keyOf(0)), 503, 'STATE_UNAVAILABLE');
    expect((await again.post(order, keyOf(1))).status).toBe(200);
    const cancelled = (id: string) =>
      again.app.fetch(`${URL_OF}/${id}/cancel`, { method: 'POST', headers: bearer(key) });
    await expectError(await cancelled(ids[1]!), 503, 'STATE_UNAVAILABLE');
    expect((await cancelled(ids[2]!)).status).toBe(200);
  });

  it('refuses bent keys, bodies and targets before any payment', async () => {
    const one = await open();
    for (const bent of ['short', 'k'.repeat(15), 'k'.repeat(129), `${'k'.repeat(16)}/`, `/${'k'.repeat(16)}`]) {
      await expectError(await one.post(ORDER, { 'idempotency-key': bent }), 400, 'INVALID_BODY');
    }
    await expectError(await one.post('x'.repeat(262_145)), 413, 'PAYLOAD_TOO_LARGE');
    await expectError(await one.post(ORDER, { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const plain = { request: { method: 'GET', url: 'http://good.example/' } };
    await expectError(await one.post(plain), 400, 'TARGET_NOT_ALLOWED');
    await expectError(await one.post({ ...ORDER, callback_url: 'nothing' }), 400, 'TARGET_NOT_ALLOWED');
  });

  it('limits creations of one address before payment', async () => {
    const one = await open({ RATE_LIMIT_PER_MINUTE: '1' });
    expect((await one.post(ORDER)).status).toBe(402);
    await expectError(await one.post(ORDER), 429, 'RATE_LIMIT_EXCEEDED');
    await expectError(await one.post({}), 400, 'INVALID_BODY');
  });

  it('sends text as it is, JSON as it was written, and the headers of the customer', async () => {
    const one = await open();
    const key = await one.keyWith(5);
    const request = (more: string): string =>
      `{"request":{"method":"PUT","url":"https://good.example/","headers":{"X-Own":"1","Idempotency-Key":"mine"},"body":${more}}}`;
    for (const text of ['"a \\u00e9"', '{"n": 1.0, "big":12345678901234567890}', 'null']) {
      expect((await one.post(request(text), bearer(key))).status).toBe(201);
    }
    await until('the request', () => one.outbound.seen.length === 3);
    expect(one.outbound.seen.map(({ body }) => body).sort()).toEqual([
      'a é',
      'null',
      '{"n": 1.0, "big":12345678901234567890}',
    ]);
    expect(one.outbound.seen[0]!.headers).toMatchObject({ 'X-Own': '1', 'Idempotency-Key': 'mine' });
    expect(one.outbound.seen[0]!.headers['idempotency-key']).toBeUndefined();
  });
});

describe(`jobs that exist, under ${RUNTIME}`, () => {
  it('are judged in the order: id, Authorization, existence, token, the rest', async () => {
    const one = await open();
    const made = (await (await one.buy(ORDER)).json()) as Body;
    const key = await one.keyWith(1, 'rival');
    const absent = '/v1/retries/rt_AAAAAAAAAAAAAAAAAAAAAAAA';
    const own = `/v1/retries/${made.id}`;
    const keyed = `/v1/retries/${((await (await one.post(ORDER, bearer(key))).json()) as Body).id}`;
    const cancel = (token: string, path = own) =>
      one.app.fetch(`/retry${path}/cancel`, { method: 'POST', headers: bearer(token) }).then(bodyOf);
    type Row = readonly [Promise<{ status: number; body: unknown }>, string];
    const rows: readonly Row[] = [
      [one.get('/v1/retries/nope'), '400 INVALID_RETRY_ID'],
      [one.get(`/v1/retries/x${made.id}`), '400 INVALID_RETRY_ID'],
      [one.get(`/v1/retries/${made.id}x`), '400 INVALID_RETRY_ID'],
      [one.get(own), '401 MISSING_AUTHORIZATION'],
      [one.get(absent), '401 MISSING_AUTHORIZATION'],
      [one.get(absent, 'svc_key_unknown'), '401 INVALID_API_KEY'],
      [one.get(absent, made.read_token), '404 RETRY_NOT_FOUND'],
      [one.get(own, `${made.read_token.slice(0, -1)}-`), '401 INVALID_TOKEN'],
      [one.get(own, key), '404 RETRY_NOT_FOUND'],
      [one.get(absent, key), '404 RETRY_NOT_FOUND'],
      [one.get(keyed, made.read_token), '401 INVALID_TOKEN'],
      [one.get(keyed, await one.key(['jobs:read'], 'rival')), '403 INSUFFICIENT_SCOPE'],
      ...['', '/attempts', '/callback'].flatMap((part): Row[] => [
        [one.get(`/v1/retries/nope${part}?page=1`), '400 INVALID_RETRY_ID'],
        [one.get(`${own}${part}?page=1`, 'wrong'), '401 INVALID_TOKEN'],
        [one.get(`${own}${part}?page=1`, made.read_token), '400 UNKNOWN_PARAMETER'],
        [one.get(`${keyed}${part}?page=1`, key), '400 UNKNOWN_PARAMETER'],
      ]),
      [one.get(own, await one.key(['jobs:read'], 'rival')), '404 RETRY_NOT_FOUND'],
      [cancel(await one.key(['retries:read'], 'rival'), keyed), '403 INSUFFICIENT_SCOPE'],
      [cancel(made.read_token), '403 API_KEY_REQUIRED'],
      [cancel('wrong'), '401 INVALID_TOKEN'],
      [cancel(made.read_token, absent), '404 RETRY_NOT_FOUND'],
      [one.get('/v1/usage', made.read_token), '403 API_KEY_REQUIRED'],
      [one.get('/v1/usage', 'wrong'), '401 INVALID_API_KEY'],
      [one.get('/v1/usage'), '401 MISSING_AUTHORIZATION'],
      [one.get('/v1/usage?page=1', await one.key(['retries:read'])), '400 UNKNOWN_PARAMETER'],
      [one.get('/v1/usage', await one.key(['retries:write'])), '403 INSUFFICIENT_SCOPE'],
    ];
    for (const [asked, expected] of rows) {
      const { status, body } = await asked;
      expect(`${status} ${(body as { error: { code: string } }).error.code}`).toBe(expected);
    }
    for (const scope of ['retries:read', 'retries:write'] as const) {
      expect((await one.get(keyed, await one.key([scope], 'rival'))).status).toBe(200);
    }
  });

  it('are read and cancelled within the rate of a key, and read by token beside it', async () => {
    const one = await open({ KEY_RATE_LIMIT_PER_MINUTE: '3' });
    const key = await one.keyWith(1);
    const { id } = (await (await one.post(ORDER, bearer(key))).json()) as Body;
    const ofKey = ['', '/attempts', '/callback'].map((rest) => one.get(`/v1/retries/${id}${rest}`, key));
    expect((await Promise.all(ofKey)).map(({ status }) => status)).toEqual([200, 200, 429]);
    await expectError(await one.post('', bearer(key), `${URL_OF}/${id}/cancel`), 429, 'RATE_LIMIT_EXCEEDED');
    const bought = (await (await one.buy(ORDER)).json()) as Body;
    for (let i = 0; i < 4; i++) {
      const path = `${URL_OF}/${bought.id}`;
      const { status, headers } = await one.app.fetch(path, { headers: bearer(bought.read_token) });
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    }
  });

  it('are cancelled by a key: the attempt under way is interrupted, the event goes out, and once only', async () => {
    const one = await open();
    const key = await one.keyWith(1);
    const order = { request: { method: 'GET', url: 'https://slow.example/' }, callback_url: 'https://hook.example/' };
    const { id } = (await (await one.post(order, bearer(key))).json()) as Body;
    await until('the job', async () => (await one.status(id, key)).status === 'running');
    const cancel = () => one.post('', bearer(key), `${URL_OF}/${id}/cancel`);
    expect(await (await cancel()).json()).toMatchObject({ id, status: 'cancelled' });
    await expectError(await cancel(), 409, 'RETRY_NOT_CANCELLABLE');
    const attempts = await one.get(`/v1/retries/${id}/attempts`, key);
    expect(attempts.body).toMatchObject({ attempts: [{ outcome: 'interrupted', status_code: null }] });
    await until('the request', () => one.outbound.seenBy('hook.example').length === 1);
    expect(JSON.parse(one.outbound.seenBy('hook.example')[0]!.body!)).toMatchObject({
      status: 'cancelled',
      result: null,
    });
    expect(await one.status(id, key)).toMatchObject({ status: 'cancelled', result: null, failure: null });
  });

  it.each([
    ['blocked', 'TARGET_NOT_ALLOWED', 'blocked'],
    ['too-large', 'RESPONSE_TOO_LARGE', 'response_too_large'],
  ] as const)('end as failed when an attempt turns out %s', async (kind, code, outcome) => {
    const one = await open();
    one.outbound.target('odd.example', () => failure(kind));
    const key = await one.keyWith(1);
    const order = { request: { method: 'GET', url: 'https://odd.example/' } };
    const { id } = (await (await one.post(order, bearer(key))).json()) as Body;
    await until('the job', async () => (await one.status(id, key)).status === 'failed');
    expect(await one.status(id, key)).toMatchObject({ failure: { code }, result: null });
    const { body } = await one.get(`/v1/retries/${id}/attempts`, key);
    expect(body).toMatchObject({ attempts: [{ outcome, next_attempt_at: null }] });
  });

  it.each([
    ['get', '/v1/retries/{id}', [{ retryToken: [] }]],
    ['post', '/v1/retries/{id}/cancel', [{ apiKey: ['retries:write'] }]],
    ['get', '/v1/usage', [{ apiKey: ['retries:read'] }]],
  ])('ask in the published contract for what they take: %s %s', async (method, path, security) => {
    const one = await open();
    const { body } = await one.get('/openapi.json');
    expect(body).toMatchObject({ paths: { [path]: { [method]: { security } } } });
  });

  it('publish no code for a missing Authorization where a payment takes its place', async () => {
    const { body } = await (await open()).get('/openapi.json');
    const codesOf = (path: string, method: string): unknown =>
      (body as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }).paths[path]![method]!
        .responses['401'];
    const codes = (...expected: string[]) => ({
      content: {
        'application/json': { schema: { properties: { error: { properties: { code: { enum: expected } } } } } },
      },
    });
    expect(codesOf('/v1/retries', 'post')).toMatchObject(codes('INVALID_AUTHORIZATION', 'INVALID_API_KEY'));
    const ofUsage = codes('MISSING_AUTHORIZATION', 'INVALID_AUTHORIZATION', 'INVALID_API_KEY');
    expect(codesOf('/v1/usage', 'get')).toMatchObject(ofUsage);
  });

  it('show what a target answered as data that no browser runs, in every answer about it (reliability 231)', async () => {
    const one = await open();
    const body = '<script>alert(1)</script>';
    const headers = {
      'content-type': 'application/json; odd="</script>"',
      'set-cookie': 'a=stolen',
      'x-odd': '\u00ff',
    };
    one.outbound.target('odd.example', () => answer(200, body, headers));
    const key = await one.keyWith(1);
    const order = { request: { method: 'GET', url: 'https://odd.example/' } };
    const { id } = (await (await one.post(order, bearer(key))).json()) as Body;
    await until('the job', async () => (await one.status(id, key)).status === 'succeeded');
    const shown = await one.app.fetch(`${URL_OF}/${id}`, { headers: bearer(key) });
    expect(shown.headers.get('content-type')).toBe('application/json');
    expect(shown.headers.get('x-content-type-options')).toBe('nosniff');
    expect(shown.headers.get('content-security-policy')).toBe('sandbox');
    expect(shown.headers.get('set-cookie')).toBeNull();
    const { result } = (await shown.json()) as { result: unknown };
    expect(result).toEqual({
      status_code: 200,
      content_type: headers['content-type'],
      body,
      size_bytes: body.length,
      truncated: false,
    });
  });

  it('say of a callback that fails how often it was tried, and nothing of where or what (reliability 239)', async () => {
    const one = await open();
    one.outbound.target('deaf.example', () => answer(500, 'hidden-answer', { 'x-hidden': 'hidden-answer' }));
    const key = await one.keyWith(1);
    const order = { ...ORDER, callback_url: 'https://deaf.example/hidden-path?hidden' };
    const { id } = (await (await one.post(order, bearer(key))).json()) as Body;
    const delivery = async () => (await one.get(`/v1/retries/${id}/callback`, key)).body as Record<string, string>;
    await until('the try', async () => Number((await delivery()).last_status_code) === 500);
    const body = await delivery();
    expect(body).toMatchObject({ status: 'delivering', attempt_count: 1, delivered_at: null });
    expect(Date.parse(body.next_attempt_at!) - Date.parse(body.last_attempt_at!)).toBeGreaterThanOrEqual(5000);
    expect(JSON.stringify(body)).not.toMatch(/hidden|deaf/);
  });

  it('wait for their next attempt, and say when it comes', async () => {
    const one = await open();
    one.outbound.target('busy.example', () => answer(503, 'later', { 'retry-after': '120' }));
    const key = await one.keyWith(1);
    const order = { request: { method: 'GET', url: 'https://busy.example/' }, policy: { jitter: false } };
    const { id } = (await (await one.post(order, bearer(key))).json()) as Body;
    await until('the job', async () => (await one.status(id, key)).status === 'waiting');
    const { body } = await one.get(`/v1/retries/${id}/attempts`, key);
    const [attempt] = (body as { attempts: { started_at: string; next_attempt_at: string }[] }).attempts;
    expect(attempt).toMatchObject({ outcome: 'http_error', status_code: 503, retry_after_seconds: 120 });
    const pauseMs = Date.parse(attempt!.next_attempt_at) - Date.parse(attempt!.started_at);
    expect(pauseMs).toBeGreaterThanOrEqual(120_000);
    expect((await one.status(id, key)).next_attempt_at).toBe(attempt!.next_attempt_at);
  });
});

describe(`the surface of retries with play money, under ${RUNTIME}`, () => {
  it('is off at a public address unless SURFACES names it, and the start says so', async () => {
    const variables = { SNAPSHOT: 'none', BASE_URL: 'https://paygrade.example' };
    const off = await openedApp(variables);
    const asked = new Request(`${off.url}${URL_OF}`, { method: 'POST' });
    expect((await off.app.fetch(asked)).status).toBe(404);
    expect(off.app.notices.join()).toContain('play money must not buy outbound requests');
    await off.close();
    const on = await openedApp({ ...variables, SURFACES: 'callbacks,retry' });
    expect((await on.fetch(URL_OF, { method: 'POST' })).status).not.toBe(404);
    expect(on.app.notices.join()).not.toContain('play money must not buy outbound requests');
    await on.close();
  });
});
