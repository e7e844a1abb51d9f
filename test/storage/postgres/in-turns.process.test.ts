/**
 * Outages that let some writes through: a database that new sessions find read-only and older ones do not, and a disk that is full for
 * larger writes. One outage is one for the log and for `/ready`, and every payment is free or sold afterwards.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { bearer, type Callback, createCallback, post } from '../../support/callback-client.ts';
import { type OpenedApp, openedApp } from '../../support/opened-app.ts';
import { type OwnServer, startPostgres } from '../../support/postgres.ts';
import { pause, until } from '../../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../../support/wallet.ts';

const SELLER_COUNT = 4;
/** At once, so that the pool opens further connections. */
const RUSH_COUNT = 14;
const RUSH_PAUSE_MS = 300;
/** More than a page of a table has room for. */
const BODY = 'x'.repeat(20_000);
/** How long the outage lasts after it was noticed. */
const OUTAGE_MS = 1500;
/** The pauses between two questions about an open case grow. */
const SETTLED_MS = 30_000;
const TEST_MS = 60_000;
const DISK_BYTES = 24 * 1024 ** 2;

const server = await startPostgres();
if (server === undefined) console.log('skipping outages in turns: there is no PostgreSQL to start');

/** A small disk; undefined = this user may not mount one. */
function mounted({ folder }: OwnServer): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'paygrade-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    rmSync(disk, { recursive: true });
    console.log('skipping a full disk: this user may not mount a small one');
    return undefined;
  }
  const { uid, gid } = statSync(folder);
  const tables = join(disk, 'tables');
  mkdirSync(tables);
  chownSync(tables, uid, gid);
  chmodSync(tables, 0o700);
  return disk;
}

const disk = server === undefined ? undefined : mounted(server);

afterAll(async () => {
  await server?.close();
  if (disk === undefined) return;
  execFileSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
});

const urlOf = (database: string): string => `postgres://postgres@127.0.0.1:${server!.port}/${database}`;

async function connected(database: string): Promise<Client> {
  const client = new Client(urlOf(database));
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Customers who buy and post without a pause, and what became of it. */
class Trade {
  readonly #app: OpenedApp;
  readonly #ends: Promise<unknown>;
  #callback: Callback;
  #isOpen = true;
  readonly unsold: string[] = [];
  readonly statuses = new Set<number>();
  soldCount = 1;

  constructor(app: OpenedApp, callback: Callback) {
    this.#app = app;
    this.#callback = callback;
    const posting = (): Promise<unknown> => post(app, this.#callback.id, BODY);
    const rushing = (): Promise<unknown> => Promise.all(Array.from({ length: RUSH_COUNT }, () => this.#sale()));
    const selling = Array.from({ length: SELLER_COUNT }, () => this.#while(20, () => this.#sale()));
    this.#ends = Promise.all([...selling, this.#while(50, posting), this.#while(RUSH_PAUSE_MS, rushing)]);
  }

  async end(): Promise<void> {
    this.#isOpen = false;
    await this.#ends;
  }

  async #while(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
    for (; this.#isOpen; await pause(pauseMs)) await work();
  }

  async #sale(): Promise<void> {
    const offered = await this.#app.fetch('/v1/callbacks', { method: 'POST' });
    if (offered.status !== 402) return void this.statuses.add(offered.status);
    const payment = encodeHeader(await paymentFor(await offerFrom(Promise.resolve(offered)), wallet()));
    const headers = { 'payment-signature': payment };
    const answered = await this.#app.fetch('/v1/callbacks', { method: 'POST', headers });
    // Where the callback of a payment that has settled cannot be stored, its 500 has the receipt.
    const isSold = answered.status === 201 || (answered.status === 500 && answered.headers.has('payment-response'));
    this.statuses.add(isSold ? 201 : answered.status);
    if (answered.status === 201) this.#callback = (await answered.json()) as Callback;
    if (isSold) this.soldCount++;
    else this.unsold.push(payment);
  }
}

describe.skipIf(server === undefined)('an outage that lets some writes through', () => {
  async function holds(
    name: string,
    space: string,
    outage: {
      begin(operator: Client): Promise<unknown>;
      end(operator: Client): Promise<unknown>;
      says: RegExp;
      /** What a read is answered meanwhile. */
      reads: number;
    },
  ): Promise<void> {
    const admin = await connected('postgres');
    await admin.query(`CREATE DATABASE ${name} TABLESPACE ${space}`);
    const faults: (string | undefined)[] = [];
    const app = await openedApp(
      {
        DATABASE_URL: urlOf(name),
        STATE_SYNC: 'normal',
        STATE_KEY: Buffer.alloc(32, 7).toString('base64'),
        CALLBACK_BYTES: String(4 * 1024 ** 3),
      },
      { onStateFault: (fault) => void faults.push(fault) },
    );
    const isReady = async (): Promise<boolean> => (await app.fetch('/ready')).status === 200;
    const callback = await createCallback(app);
    const trade = new Trade(app, callback);
    try {
      await until('sales', () => trade.soldCount > 2 * RUSH_COUNT);
      expect([faults, [...trade.statuses]]).toEqual([[], [201]]);
      await outage.begin(admin);
      await until('the outage', async () => !(await isReady()));
      for (const endMs = performance.now() + OUTAGE_MS; performance.now() < endMs; await pause(20)) {
        expect(await isReady()).toBe(false);
        const read = await app.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
        expect(read.status).toBe(outage.reads);
      }
      await outage.end(admin);
      await until('readiness', isReady);
      await pause(1000);
      expect(faults).toEqual([expect.stringMatching(outage.says), undefined]);
    } finally {
      await trade.end();
    }
    expect([201, 503]).toEqual(expect.arrayContaining([...trade.statuses]));
    const count = async (table: string): Promise<number> => {
      const { rows } = await operator.query(`SELECT count(*) FROM paygrade.${table}`);
      return Number(rows[0].count);
    };
    const operator = await connected(name);
    await until('no settlement is open', async () => (await count('cases')) === 0, SETTLED_MS);
    for (const payment of trade.unsold) {
      const headers = { 'payment-signature': payment };
      expect([201, 409]).toContain((await app.fetch('/v1/callbacks', { method: 'POST', headers })).status);
    }
    expect(await count('sales')).toBe(trade.soldCount + trade.unsold.length);
    await app.close();
  }

  it('is one of sessions that are read-only from a moment on', { timeout: TEST_MS }, () =>
    holds('turned', 'pg_default', {
      says: /read-only transaction/,
      reads: 500,
      async begin(admin) {
        await admin.query('ALTER DATABASE turned SET default_transaction_read_only = on');
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paygrade' LIMIT 1`,
        );
      },
      end: (admin) => admin.query('ALTER DATABASE turned RESET default_transaction_read_only'),
    }),
  );

  it.skipIf(disk === undefined)('is one of a disk that is full', { timeout: TEST_MS }, async () => {
    const admin = await connected('postgres');
    await admin.query(`CREATE TABLESPACE small LOCATION '${disk}/tables'`);
    const filler = join(disk!, 'filler');
    await holds('crammed', 'small', {
      says: /No space left on device/,
      reads: 200,
      async begin() {
        expect(() => writeFileSync(filler, Buffer.alloc(DISK_BYTES))).toThrow('ENOSPC');
      },
      end: async () => rmSync(filler),
    });
  });
});
