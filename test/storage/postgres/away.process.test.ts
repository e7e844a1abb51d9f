/** What requests are answered while the database that processes share is away (decisions §4; siblings §9), and after. */
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Callback, createCallback, eventsOf, post } from '../../support/callback-client.ts';
import { type OpenedApp, openedApp } from '../../support/opened-app.ts';
import { SERVER, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';
import { type Created, ended, resolve } from '../../support/resolve-client.ts';
import { answer, TargetsByHost } from '../../support/targets-by-host.ts';
import { TcpLink } from '../../support/tcp-link.ts';
import { pause, until } from '../../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../../support/wallet.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const JSON_TYPE = { 'content-type': 'application/json' };
const ORDER = JSON.stringify({ request: { method: 'GET', url: 'https://good.example/' } });
const RETRIES = '/retry/v1/retries';

const UNAVAILABLE = [503, 'STATE_UNAVAILABLE'] as const;
/** callback.md lists no other code for these (decisions §4). */
const FAILED = [500, 'INTERNAL_ERROR'] as const;

describe.skipIf(SERVER === undefined)('while the database is away', () => {
  let database: TestDatabase;
  let link: TcpLink;
  let app: OpenedApp;
  let callback: Callback;
  let key: string;
  let job: string;
  let shown: { id: string; read_token: string };
  let eventId: string;
  let answerLate = (): void => {};
  const lateAnswer = new Promise<void>((resolve) => {
    answerLate = resolve;
  });
  const json = async (path: string, headers: Record<string, string>, body: unknown) =>
    (await (
      await app.fetch(path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })
    ).json()) as Record<string, string>;
  const isReady = async (): Promise<boolean> => (await app.fetch('/ready')).status === 200;

  beforeAll(async () => {
    database = await testDatabase(SERVER!);
    link = await TcpLink.to(database.url);
    const outbound = new TargetsByHost()
      .target('late.example', async () => {
        await lateAnswer;
        return answer(200, 'late', { 'content-type': 'text/plain' });
      })
      .target('good.example', () => answer(200, '{}', JSON_TYPE))
      .target('offer.example', () => answer(200, 'a page', { 'content-type': 'text/plain' }));
    app = await openedApp(
      {
        DATABASE_URL: link.url,
        STATE_SYNC: 'normal',
        STATE_KEY: Buffer.alloc(32, 7).toString('base64'),
        ADMIN_TOKEN,
      },
      { outbound },
    );
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    await json('/admin/v1/grants', admin, { organization: 'acme', kind: 'onboarding', amount: 10 });
    const scopes = ['jobs:read', 'retries:read', 'retries:write'];
    ({ key } = (await json('/admin/v1/keys', admin, { organization: 'acme', scopes })) as { key: string });
    ({ id: job } = (await json(RETRIES, { authorization: `Bearer ${key}` }, JSON.parse(ORDER))) as { id: string });
    callback = await createCallback(app);
    ({ event_id: eventId } = (await (await post(app, callback.id, 'before')).json()) as { event_id: string });
    shown = (await (await resolve(app, { url: 'https://offer.example/' })).json()) as typeof shown;
  });
  afterAll(async () => {
    link.open();
    await app.close();
    await link.end();
    await database.remove();
  });

  it('every route that needs it says so, and when to come again; nothing is charged, lost or logged as a bug', async () => {
    const account = wallet();
    const payment = await paymentFor(await offerFrom(app.fetch('/v1/callbacks', { method: 'POST' })), account);
    const paid = { 'payment-signature': encodeHeader(payment) };
    const keyed = { authorization: `Bearer ${key}` };
    const reader = { authorization: `Bearer ${callback.read_token}` };
    const ofCallback = `/v1/callbacks/${callback.id}`;
    const hook = `/hooks/${callback.id}`;
    const resolved = [`/resolve/v1/resolves/${shown.id}`, { authorization: `Bearer ${shown.read_token}` }] as const;
    const retry = `${RETRIES}/${job}`;
    const rows: readonly (readonly [string, string, Record<string, string>, string | undefined, number, string])[] = [
      ['POST', hook, {}, 'during', ...FAILED],
      ['PUT', hook, JSON_TYPE, '{}', ...FAILED],
      ['GET', `${ofCallback}/events`, reader, undefined, ...FAILED],
      ['GET', `${ofCallback}/events/${eventId}/raw`, reader, undefined, ...FAILED],
      ['GET', `${ofCallback}/wait?timeout=1`, reader, undefined, ...FAILED],
      ['DELETE', ofCallback, reader, undefined, ...FAILED],
      ['GET', ...resolved, undefined, ...UNAVAILABLE],
      ['GET', retry, keyed, undefined, ...UNAVAILABLE],
      ['GET', `${retry}/attempts`, keyed, undefined, ...UNAVAILABLE],
      ['POST', `${retry}/cancel`, keyed, undefined, ...UNAVAILABLE],
      ['GET', '/retry/v1/usage', keyed, undefined, ...UNAVAILABLE],
      ['POST', RETRIES, { ...keyed, ...JSON_TYPE }, ORDER, ...UNAVAILABLE],
      ['GET', '/data/v1/jobs?limit=1', keyed, undefined, ...UNAVAILABLE],
      ['POST', '/v1/callbacks', paid, undefined, 503, 'SETTLEMENT_UNAVAILABLE'],
      ['POST', '/v1/callbacks', {}, undefined, 503, 'SETTLEMENT_UNAVAILABLE'],
    ];
    link.close();
    // The first ones wait for the database as long as it may be an interruption.
    const during = await Promise.all([
      post(app, callback.id, 'during'),
      app.fetch(`${ofCallback}/events`, { headers: reader }),
    ]);
    expect(during.map(({ status }) => status)).toEqual([500, 500]);
    for (const [method, path, headers, body, status, code] of rows) {
      const said = await app.fetch(path, { method, headers, ...(body !== undefined && { body }) });
      const text = await said.text();
      expect([method, path, said.status, text]).toEqual([method, path, status, expect.stringContaining(`"${code}"`)]);
      expect([path, Number(said.headers.get('retry-after'))]).toEqual([path, expect.toSatisfy((one) => one >= 1)]);
    }
    expect(await (await app.fetch('/ready')).json()).toMatchObject({ state: false });
    expect(app.failures).toEqual([]);

    link.open();
    await until('readiness', isReady, 10_000);
    expect(await eventsOf(app, callback)).toMatchObject([{ body: 'before' }]);
    const usage = (await (await app.fetch('/retry/v1/usage', { headers: keyed })).json()) as { credits: unknown };
    expect(usage.credits).toEqual({ charged: 1, remaining: 9 });
    expect((await app.fetch('/v1/callbacks', { method: 'POST', headers: paid })).status).toBe(201);
    expect((await app.fetch(...([ofCallback, { method: 'DELETE', headers: reader }] as const))).status).toBe(200);
  });

  it('what a resolve comes to meanwhile is recorded when it is back', async () => {
    const answered = await resolve(app, { url: 'https://late.example/', max_wait_seconds: 0 });
    expect(answered.status).toBe(202);
    const created = (await answered.json()) as Created;
    link.close();
    await until('the outage', async () => !(await isReady()), 10_000);
    answerLate();
    // It is tried at once, and again every five seconds.
    await pause(500);
    link.open();
    await until('readiness', isReady, 10_000);
    expect(await ended(app, created)).toMatchObject({ status: 'resolved' });
  });

  it('its tables that are gone are an outage too, which an idle process sees, and which ends with them back', async () => {
    const renamed = async (from: string, to: string): Promise<void> => {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query(`ALTER SCHEMA ${from} RENAME TO ${to}`);
      await client.end();
    };
    await renamed('paygrade', 'aside');
    try {
      await until('the outage', async () => !(await isReady()), 10_000);
      expect(await (await app.fetch('/ready')).json()).toMatchObject({ state: false });
      const unpaid = await app.fetch('/v1/callbacks', { method: 'POST' });
      expect([unpaid.status, unpaid.headers.get('payment-required')]).toEqual([503, null]);
    } finally {
      await renamed('aside', 'paygrade');
    }
    await until('readiness', isReady, 10_000);
    expect((await createCallback(app)).id).toMatch(/^cb_/);
    // Up to a look, three seconds, what runs by itself meets the missing tables and says so.
    for (const failure of app.failures.splice(0)) expect(String(failure)).toContain('does not exist');
  });
});
