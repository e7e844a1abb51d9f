/**
 * A creation that is paid for and whose statement the database answers no more: the customer gets a 500, asks again, and gets
 * the first answer with its secrets, uncharged (decisions §4, siblings §6), whether the database carried the statement out,
 * never got it, or got it late.
 */
import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/storage/backend.ts';
import { openBackend } from '../../../src/storage/open-backend.ts';
import { answerOf, expectError } from '../../support/answers.ts';
import { buyerAt, isPaid } from '../../support/buyer.ts';
import { type OpenedApp, openedApp } from '../../support/opened-app.ts';
import { SERVER, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';
import { type Created, ended } from '../../support/resolve-client.ts';
import { answer, TargetsByHost } from '../../support/targets-by-host.ts';
import { type Fate, TcpLink } from '../../support/tcp-link.ts';
import { until } from '../../support/until.ts';

const URL_ASKED = 'https://good.example/';
const KEY = { 'idempotency-key': 'an-idempotency-key-1' };
const idOf = (text: string) => ({ 'payment-identifier': { info: { required: false, id: text } } });

interface Product {
  readonly path: string;
  readonly body?: unknown;
  /** By what it is asked for again. */
  readonly name: 'key' | 'identifier';
  /** Name of the statement. */
  readonly statement: string;
  reads(id: string): string;
}

const RETRY: Product = {
  path: '/retry/v1/retries',
  body: { request: { method: 'GET', url: URL_ASKED } },
  name: 'key',
  statement: 'create-retry',
  reads: (id) => `/retry/v1/retries/${id}`,
};
const CALLBACK: Product = {
  path: '/v1/callbacks',
  name: 'identifier',
  statement: 'create-callback',
  reads: (id) => `/v1/callbacks/${id}/events`,
};
const resolving = (waitSeconds: number): Product => ({
  path: '/resolve/v1/resolve',
  body: { url: URL_ASKED, max_wait_seconds: waitSeconds },
  name: 'identifier',
  statement: 'create-resolve',
  reads: (id) => `/resolve/v1/resolves/${id}`,
});

/** A shop of its own on a database of its own, behind a line that can lose statements. */
class Shop {
  readonly app: OpenedApp;
  readonly database: TestDatabase;
  readonly #link: TcpLink;
  readonly #backend: Backend;
  readonly #counts: { requests: number };

  private constructor(
    app: OpenedApp,
    database: TestDatabase,
    link: TcpLink,
    backend: Backend,
    counts: { requests: number },
  ) {
    this.app = app;
    this.database = database;
    this.#link = link;
    this.#backend = backend;
    this.#counts = counts;
  }

  static async open(): Promise<Shop> {
    const database = await testDatabase(SERVER!);
    const link = await TcpLink.to(database.url);
    const counts = { requests: 0 };
    const outbound = new TargetsByHost().target('good.example', () => {
      counts.requests++;
      return answer(200, '{}', { 'content-type': 'application/json' });
    });
    const opened: Backend[] = [];
    const app = await openedApp(
      {
        SNAPSHOT: 'none',
        DATABASE_URL: link.url,
        STATE_SYNC: 'normal',
        STATE_KEY: Buffer.alloc(32, 7).toString('base64'),
      },
      {
        outbound,
        async openBackend(options, ports) {
          opened.push(await openBackend(options, ports));
          return opened[0] as Backend;
        },
      },
    );
    return new Shop(app, database, link, opened[0] as Backend, counts);
  }

  /** Requests that the target of retries and resolves got. */
  get requestCount(): number {
    return this.#counts.requests;
  }

  async saleCount(): Promise<number> {
    const listed = await this.#backend.books.list({
      sinceMs: 0,
      isUndeliveredOnly: false,
      after: undefined,
      limit: 100,
    });
    return listed.length;
  }

  /** Buys; the creation gets no answer. @returns what asks again */
  async lose({ path, body, statement, name }: Product, fate: Fate): Promise<() => Promise<Response>> {
    const buy = await buyerAt(this.app, path, body);
    const again = (): Promise<Response> => (name === 'key' ? buy(KEY) : buy({}, idOf(`payment-for-${statement}`)));
    this.#link.closeAt(statement, fate);
    const lost = await again();
    expect(isPaid(lost)).toBe(true);
    expectError(await answerOf(lost), 500, 'INTERNAL_ERROR');
    this.#link.open();
    await until('the server is ready', async () => (await this.app.fetch('/ready')).status === 200, 30_000);
    return again;
  }

  deliverLate(): Promise<void> {
    return this.#link.deliverLate();
  }

  async close(): Promise<void> {
    this.#link.open();
    await this.app.close();
    await this.#link.end();
    await this.database.remove();
  }
}

// Side by side: each waits for seconds until its server has found the database again.
describe.skipIf(SERVER === undefined).concurrent('a creation that was paid for', { timeout: 60_000 }, () => {
  it.for([
    ['a retry under its idempotency key', 'carried out', RETRY],
    ['a retry under its idempotency key', 'lost', RETRY],
    ['a callback', 'carried out', CALLBACK],
    ['a resolve without its result', 'carried out', resolving(0)],
    ['a resolve with its result', 'lost', resolving(5)],
  ] as const)('is given with its secrets to who asks again: %s, whose statement was %s', async (row, test) => {
    const [, fate, product] = row;
    const shop = await Shop.open();
    test.onTestFinished(() => shop.close());
    const buyAgain = await shop.lose(product, fate);
    const again = await buyAgain();
    expect([200, 201, 202]).toContain(again.status);
    expect(isPaid(again)).toBe(true);
    const made = (await again.json()) as Created;
    const reading = { headers: { authorization: `Bearer ${made.read_token}` } };
    expect((await shop.app.fetch(product.reads(made.id), reading)).status).toBe(200);
    if (product.statement === 'create-resolve') expect((await ended(shop.app, made)).status).toBe('resolved');
    if (product.statement === 'create-retry') {
      await until('it is sent', () => shop.requestCount > 0);
      expect(shop.requestCount).toBe(1);
    }
    expect(await shop.saleCount()).toBe(1);
  });

  it('ends as a resolve also when it comes on record after its outcome was known', async ({ onTestFinished }) => {
    const shop = await Shop.open();
    onTestFinished(() => shop.close());
    const connections = shop.database.connections();
    const connection = await connections.connect();
    const buyAgain = await shop.lose(resolving(5), 'late');
    const done = { text: "SELECT FROM paygrade.resolves WHERE status = 'resolved'" };
    const isDone = async (): Promise<boolean> => (await connection.query(done)).rows.length === 1;
    await until('its outcome is on record', isDone, 30_000);
    await shop.deliverLate();
    expect(await isDone()).toBe(true);
    connection.release(false);
    await connections.end();
    const again = await buyAgain();
    expect(again.status).toBe(200);
    expect(((await again.json()) as Created).status).toBe('resolved');
  });
});
