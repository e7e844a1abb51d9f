/**
 * A creation that is paid for and on record, but of whose record the store says nothing: the customer gets a 500, asks again, and
 * gets the first answer with its secrets, uncharged (decisions §4, siblings §6).
 */
import { afterEach, expect, it } from 'vitest';
import { OutageError } from '../../src/base/outage.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { openBackend } from '../../src/storage/open-backend.ts';
import { answerOf, expectError } from '../support/answers.ts';
import { type Buy, buyerAt, isPaid } from '../support/buyer.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';
import { type Created, ended } from '../support/resolve-client.ts';
import { answer, TargetsByHost } from '../support/targets-by-host.ts';

const RETRIES = '/retry/v1/retries';
const ORDER = { request: { method: 'GET', url: 'https://good.example/' }, callback_url: 'https://good.example/done' };
const KEY = { 'idempotency-key': 'an-idempotency-key-1' };
const ID = { 'payment-identifier': { info: { required: false, id: 'the-identifier-of-a-job' } } };

type Stored = 'retries' | 'callbacks' | 'resolves';
type Body = Record<string, unknown> & { readonly id: string; readonly read_token: string };

let app: OpenedApp;
let backend: Backend;
afterEach(() => app.close());

type Method = (...given: unknown[]) => unknown;

/** The store goes away during the next of these calls: after a creation is on record, and before an end is. */
function losesNext(store: Record<string, Method>, name: 'create' | 'finish'): void {
  const method = store[name] as Method;
  store[name] = async (...given) => {
    store[name] = method;
    if (name === 'create') await method.apply(store, given);
    throw new OutageError('the database did not answer');
  };
}

async function open(lost: Stored, call: 'create' | 'finish' = 'create'): Promise<void> {
  const outbound = new TargetsByHost().target('good.example', () => answer(200, '{}'));
  app = await openedApp(
    { SNAPSHOT: 'none' },
    {
      outbound,
      openBackend: async (options, ports) => {
        backend = await openBackend(options, ports);
        losesNext(backend[lost] as unknown as Record<string, Method>, call);
        return backend;
      },
    },
  );
}

const buyerOf = (path: string, body?: unknown): Promise<Buy> => buyerAt(app, path, body);

const saleCount = async (): Promise<number> =>
  (await backend.books.list({ sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 10 })).length;

it.each([
  ['its idempotency key', KEY, undefined],
  ['its payment identifier', {}, ID],
  ['both', KEY, ID],
])('gives a retry asked for again under %s, and then no secrets to the key', async (_, headers, extensions) => {
  await open('retries');
  const buy = await buyerOf(RETRIES, ORDER);
  const lost = await buy(headers, extensions);
  expect(isPaid(lost)).toBe(true);
  expectError(await answerOf(lost), 500, 'INTERNAL_ERROR');
  const again = await buy(headers, extensions);
  expect([again.status, isPaid(again)]).toEqual([201, true]);
  const made = (await again.json()) as Body;
  expect(made.callback_secret).toMatch(/^whsec_/);
  const read = await app.fetch(`${RETRIES}/${made.id}`, { headers: { authorization: `Bearer ${made.read_token}` } });
  expect(read.status).toBe(200);
  if (headers === KEY) {
    const third = await buy(KEY);
    expect([third.status, await third.json()]).toEqual([200, { ...made, read_token: null, callback_secret: null }]);
  }
  if (extensions !== undefined) expect(await (await buy(headers, extensions)).json()).toEqual(made);
  expect(await saleCount()).toBe(1);
});

it('gives the secrets of a retry to one of the requests that wait for the first', async () => {
  await open('retries');
  const buy = await buyerOf(RETRIES, ORDER);
  expect((await buy(KEY)).status).toBe(500);
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await buy(KEY)).status));
  expect(statuses).toContain(201);
  expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  expect((await buy(KEY)).status).toBe(200);
  expect(await saleCount()).toBe(1);
});

it('gives a callback asked for again under its payment identifier', async () => {
  await open('callbacks');
  const buy = await buyerOf('/v1/callbacks');
  expectError(await answerOf(await buy({}, ID)), 500, 'INTERNAL_ERROR');
  const again = await buy({}, ID);
  expect(again.status).toBe(201);
  const { id, read_token: token } = (await again.json()) as Body;
  const events = await app.fetch(`/v1/callbacks/${id}/events`, { headers: { authorization: `Bearer ${token}` } });
  expect([events.status, await saleCount()]).toEqual([200, 1]);
});

it.each([
  ['whose creation had no answer', 'create', 0],
  ['whose end had none', 'finish', 5],
] as const)('gives a resolve %s, and its result', async (_, call, maxWaitSeconds) => {
  await open('resolves', call);
  const buy = await buyerOf('/resolve/v1/resolve', { url: 'https://good.example/', max_wait_seconds: maxWaitSeconds });
  expectError(await answerOf(await buy({}, ID)), 500, 'INTERNAL_ERROR');
  const again = await buy({}, ID);
  expect([200, 202]).toContain(again.status);
  expect(await ended(app, (await again.json()) as Created)).toMatchObject({ status: 'resolved' });
  expect(await saleCount()).toBe(1);
});
