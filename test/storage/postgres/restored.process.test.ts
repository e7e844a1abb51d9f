/** A database that was restored from a dump does not know what was sold since (reliability 124). */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { describe, expect, it, type TestContext } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import type { Reservation, Reserved } from '../../../src/payment/reservations.ts';
import { newResolveId, type ResolveId } from '../../../src/resolve/identifier.ts';
import { newRetryId } from '../../../src/retry/identifier.ts';
import { newJob } from '../../../src/retry/job.ts';
import { DEFAULT_POLICY } from '../../../src/retry/policy.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { LOOK_MS } from '../../../src/storage/postgres/owners.ts';
import { KEY_CHECK } from '../../../src/storage/postgres/secrets.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import type { OwnServer } from '../../support/postgres.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SALE, SALES_KEPT_MS } from '../../support/sale.ts';
import { until } from '../../support/until.ts';

const RESTORED = /^the database was restored or copied: until 20\d\d-.*Z the server sells nothing for authorizations/;
const binaries = (SERVER as OwnServer | undefined)?.binaries ?? '';
const canDump = existsSync(join(binaries, 'pg_dump')) && existsSync(join(binaries, 'psql'));

const run = promisify(execFile);

const dumped = async (url: string): Promise<string> =>
  (await run(join(binaries, 'pg_dump'), ['--schema=paygrade', url])).stdout;

/** In one transaction, so that no server sees that the tables were gone. */
async function restore(url: string, dump: string): Promise<void> {
  const running = run(join(binaries, 'psql'), ['--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1', url]);
  running.child.stdin?.end(`DROP SCHEMA paygrade CASCADE;\n${dump}`);
  await running;
}

let nonce = 0;

const orderFrom = (aheadSeconds: number): PaymentOrder =>
  orderFor({
    nonce: `0x${String(++nonce).padStart(64, '0')}`,
    validAfterSeconds: 0,
    validBeforeSeconds: Math.floor(systemClock.nowMs() / 1000) + aheadSeconds,
  });

const reserve = async ({ reservations }: Backend, order: PaymentOrder): Promise<Reserved> =>
  reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);

/** Reserves and records the intent; the money is about to move. */
async function begin(backend: Backend, order: PaymentOrder): Promise<Reservation> {
  const reserved = await reserve(backend, order);
  if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
  await backend.reservations.recordIntent(reserved.reservation, order, SALE);
  return reserved.reservation;
}

const TRANSACTION = `0x${'ab'.repeat(32)}`;

async function sell(backend: Backend, order: PaymentOrder): Promise<void> {
  await backend.reservations.recordSettled(await begin(backend, order), TRANSACTION);
}

/** Statements by the role that owns the database. @returns how many rows a single one has found or changed */
async function queryAt(url: string, text: string): Promise<number | null> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rowCount;
  } finally {
    await client.end();
  }
}

/** A server connects again after so long at least. */
const RECONNECT_MS = 1000;

/** What a server does by itself now and then, looks above all, waits until the test lets it go. */
class HeldLooks implements Timers {
  #held: Set<() => void> | undefined = new Set();

  after(delayMs: number, run: () => void): () => void {
    const held = this.#held;
    if (delayMs < RECONNECT_MS || delayMs > LOOK_MS || held === undefined) return systemTimers.after(delayMs, run);
    held.add(run);
    return () => held.delete(run);
  }

  letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const run of held) run();
  }
}

/** One database, the servers that a test opens on it, and what they tell. All of it goes when the test ends. */
class Trial {
  readonly url: string;
  readonly notices: string[] = [];
  readonly faults: (string | undefined)[] = [];
  readonly #servers: Backend[] = [];
  readonly #databases: string[];

  private constructor(url: string) {
    this.url = url;
    this.#databases = [url];
  }

  static async begin({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Trial> {
    const trial = new Trial(await SERVER!.freshUrl());
    onTestFinished(() => trial.#end());
    return trial;
  }

  /** A second database. */
  async freshUrl(): Promise<string> {
    return this.#withDatabase(await SERVER!.freshUrl());
  }

  async copyUrl(): Promise<string> {
    return this.#withDatabase(await SERVER!.copyUrl(this.url));
  }

  #withDatabase(url: string): string {
    this.#databases.push(url);
    return url;
  }

  async open(databaseUrl = this.url, stateKey?: Uint8Array, timers: Timers = systemTimers): Promise<Backend> {
    const backend = await openPostgresBackend(
      {
        databaseUrl,
        sync: 'normal',
        callbackBytes: CLAIM_BYTES,
        play: undefined,
        salesKeptMs: SALES_KEPT_MS,
        stateKey,
      },
      {
        clock: systemClock,
        timers,
        random: new Chance(++nonce),
        onStateFault: (fault) => this.faults.push(fault),
        onNotice: (notice) => this.notices.push(notice),
        onFailure() {},
      },
    );
    this.#servers.push(backend);
    return backend;
  }

  /** As many servers that run have told of one more restore. */
  async entered(count = 1): Promise<void> {
    const isTold = () => this.notices.filter((notice) => RESTORED.test(notice)).length >= count;
    await until('the servers have entered the restored tables', isTold);
    this.notices.length = 0;
  }

  async #end(): Promise<void> {
    for (const server of this.#servers) await server.close();
    for (const url of this.#databases) await SERVER!.drop(url);
  }
}

// Side by side: most of them wait until a server looks at its tables, which it does every three seconds.
describe.skipIf(SERVER === undefined).concurrent('a restored database', () => {
  it.skipIf(!canDump)('sells nothing that may have been sold after the backup, from whichever server', async (test) => {
    const trial = await Trial.begin(test);
    const before = await trial.open();
    expect(before.notices).toEqual([]);
    const known = orderFrom(150);
    await sell(before, known);
    const dump = await dumped(trial.url);
    const forgotten = orderFrom(150);
    await sell(before, forgotten);
    expect(await reserve(before, forgotten)).toMatchObject({ kind: 'taken', status: { kind: 'settled' } });
    await before.close();
    await restore(trial.url, dump);

    // Two at once, and one that starts after they have ended.
    const together = await Promise.all([trial.open(), trial.open()]);
    const notices = together.map((server) => server.notices);
    for (const server of together) {
      expect(await reserve(server, forgotten)).toMatchObject({
        kind: 'unavailable',
        detail: expect.stringMatching(/restored/),
      });
      await server.close();
    }
    const after = await trial.open();
    expect(after.notices[0]).toMatch(RESTORED);
    expect(notices).toEqual([after.notices, after.notices]);
    expect(await reserve(after, forgotten)).toMatchObject({ kind: 'unavailable' });
    expect(await reserve(after, known)).toMatchObject({ kind: 'taken', status: { kind: 'settled' } });
    // Its window ends too late for an authorization that was sold before the restore.
    expect(await reserve(after, orderFrom(160))).toMatchObject({ kind: 'reserved' });
  });

  it('sells as before once that time has passed, and after every other start', async (test) => {
    const trial = await Trial.begin(test);
    await (await trial.open()).close();
    const copy = await trial.copyUrl();
    const entering = await trial.open(copy);
    expect(entering.notices[0]).toMatch(RESTORED);
    await entering.close();
    await queryAt(copy, 'UPDATE paygrade.identity SET used_before_seconds = 1');
    for (let starts = 0; starts < 2; starts++) {
      const server = await trial.open(copy);
      expect(server.notices).toEqual([]);
      await sell(server, orderFrom(60));
      await server.close();
    }
  });

  it('is also one that PostgreSQL copied under another name', async (test) => {
    const trial = await Trial.begin(test);
    await (await trial.open()).close();
    const server = await trial.open(await trial.copyUrl());
    expect(server.notices[0]).toMatch(RESTORED);
    expect(await reserve(server, orderFrom(60))).toMatchObject({ kind: 'unavailable' });
  });

  it.skipIf(!canDump)('is recognised by its own numbers where the role may not ask for the cluster', async (test) => {
    const trial = await Trial.begin(test);
    const address = new URL(trial.url);
    const client = new Client({ connectionString: trial.url });
    await client.connect();
    await client.query(`CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE "${address.pathname.slice(1)}" TO plain;
      REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`);
    address.username = 'plain';
    const first = await trial.open(address.href);
    expect(first.notices).toEqual([]);
    await first.close();
    const { rows } = await client.query('SELECT tables FROM paygrade.identity');
    expect(rows[0].tables).toMatch(/^\d+ \d+$/);
    await client.query('DROP OWNED BY plain; DROP ROLE plain');
    await client.end();
  });

  it.skipIf(!canDump)('sells nothing again from a server that ran while its tables were replaced', async (test) => {
    const trial = await Trial.begin(test);
    const looks = new HeldLooks();
    const running = await trial.open(trial.url, undefined, looks);
    const dump = await dumped(trial.url);
    const forgotten = orderFrom(150);
    await sell(running, forgotten);
    await restore(trial.url, dump);
    expect(await reserve(running, forgotten)).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringMatching(/replaced/),
    });
    expect(await reserve(running, orderFrom(1000))).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringMatching(/restored/),
    });

    looks.letGo();
    await trial.entered();
    // Its claim of before counts until the next look takes it back.
    expect((await reserve(running, forgotten)).kind).not.toBe('reserved');
    await sell(running, orderFrom(160));
  });

  it.skipIf(!canDump)('records each settlement as its own when the tables are replaced under it', async (test) => {
    const trial = await Trial.begin(test);
    const running = await trial.open();
    const dump = await dumped(trial.url);
    const unconfirmed = orderFrom(1000);
    const paid = orderFrom(1000);
    const started = [await begin(running, unconfirmed), await begin(running, paid)] as const;
    await restore(trial.url, dump);
    await trial.entered();

    const other = await trial.open();
    const next = [orderFrom(1000), orderFrom(1000)] as const;
    const begun = [await begin(other, next[0]), await begin(running, next[1])] as const;
    expect(await running.reservations.isHeld(started[0])).toBe(false);
    await running.reservations.recordSettled(started[1], TRANSACTION);
    for (const { key } of next) expect(await other.reservations.statusOf(key)).toEqual({ kind: 'settling' });
    await other.reservations.recordSettled(begun[0], TRANSACTION);
    await running.reservations.recordSettled(begun[1], TRANSACTION);
    for (const { key, authorization } of [paid, ...next]) {
      expect(await other.books.find(key)).toMatchObject({ nonce: authorization.nonce });
    }
    expect(await other.books.find(unconfirmed.key)).toBe(undefined);
  });

  it('sells nothing again from a server that ran while the tables were created again, and takes no serial twice', async (test) => {
    const trial = await Trial.begin(test);
    const running = await trial.open();
    const forgotten = orderFrom(150);
    await sell(running, forgotten);
    const unsettled = await begin(running, orderFrom(150));
    await queryAt(trial.url, 'DROP SCHEMA paygrade CASCADE');
    const other = await trial.open();
    await trial.entered();

    const next = orderFrom(1000);
    const begun = await begin(other, next);
    await running.reservations.recordSettled(unsettled, TRANSACTION);
    expect(await other.reservations.statusOf(next.key)).toEqual({ kind: 'settling' });
    await other.reservations.recordSettled(begun, TRANSACTION);
    expect(await other.books.find(next.key)).toMatchObject({ nonce: next.authorization.nonce });
    expect(await reserve(running, forgotten)).toMatchObject({ kind: 'unavailable' });
  });

  it('sells nothing again from a server whose database a copy with the same numbers of tables took the place of', async (test) => {
    const trial = await Trial.begin(test);
    await (await trial.open()).close();
    const copy = await trial.copyUrl();
    // One that connects again meanwhile would keep its database from being renamed.
    const looks = new HeldLooks();
    const running = await trial.open(trial.url, undefined, looks);
    const forgotten = orderFrom(150);
    await sell(running, forgotten);
    const [name, copyName] = [trial.url, copy].map((address) => new URL(address).pathname.slice(1));
    // In one transaction, so that the server finds a database whenever it connects.
    await queryAt(
      await trial.freshUrl(),
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}';
      ALTER DATABASE ${name} RENAME TO ${name}_old; ALTER DATABASE ${copyName} RENAME TO ${name};
      ALTER DATABASE ${name}_old RENAME TO ${copyName}`,
    );
    expect(await reserve(running, forgotten)).toMatchObject({ kind: 'unavailable' });
    looks.letGo();
    await trial.entered();
    // As above: a claim of before may still count.
    expect((await reserve(running, forgotten)).kind).not.toBe('reserved');
    await sell(running, orderFrom(1000));
  });

  it.skipIf(!canDump)(
    'frees the identifiers whose purchases ended after the backup, under a server that runs',
    async (test) => {
      const trial = await Trial.begin(test);
      const running = await trial.open();
      const claim = { digest: 'd'.repeat(32), fingerprint: 'f'.repeat(32) };
      const order = orderFrom(1000);
      const ended = await running.reservations.reserve(order.key, order.authorization.validBeforeSeconds, [claim]);
      if (ended.kind !== 'reserved') throw new Error(ended.kind);
      const dump = await dumped(trial.url);
      await running.reservations.release(ended.reservation);
      await restore(trial.url, dump);
      await trial.entered();
      await until('the identifier is free', async () => {
        const { key, authorization } = orderFrom(1000);
        return (await running.reservations.reserve(key, authorization.validBeforeSeconds, [claim])).kind === 'reserved';
      });
    },
  );

  it.skipIf(!canDump)(
    'gives a retry again that a server which runs held at the backup and has released since',
    async (test) => {
      const trial = await Trial.begin(test);
      const running = await trial.open();
      const draft = { organization: null, tokenDigest: null, idempotency: null, hasCallback: false };
      const id = newRetryId(new Chance(++nonce));
      const job = newJob(
        { ...draft, id, customer: 'ip:x', policy: DEFAULT_POLICY, deadlineSeconds: 600 },
        systemClock.nowMs(),
      );
      await running.retries.create({ job, secrets: null, resultBody: null });
      const taken = async () => {
        const room = { countMax: 10, bytesMax: 1000, without: [] };
        return (await running.retries.takeDue({ ...room, nowMs: systemClock.nowMs() })).jobs.map((one) => one.id);
      };
      expect(await taken()).toEqual([id]);
      const dump = await dumped(trial.url);
      await running.retries.release(id);
      await restore(trial.url, dump);
      await trial.entered();
      expect([await taken(), await taken()]).toEqual([[id], []]);
    },
  );

  it.skipIf(!canDump)(
    'is charged only by what the new tables say, also by a server that remembers others',
    async (test) => {
      const trial = await Trial.begin(test);
      const running = await trial.open();
      const other = await trial.open();
      const grant = (organization: string, amount: number) =>
        other.accounts.grant({ organization, kind: 'onboarding', amount, expiresAtMs: null });
      await grant('acme', 10);
      const dump = await dumped(trial.url);
      await grant('acme', 5);
      expect(await running.accounts.charge('acme', 1)).toEqual({ kind: 'charged', remaining: 14 });
      await grant('initech', 7);
      expect(await running.accounts.charge('initech', 1)).toEqual({ kind: 'charged', remaining: 6 });
      await restore(trial.url, dump);
      await trial.entered(2);
      // The next grants get the serials that the lost ones had, and as many changes make as many versions.
      for (const organization of ['globex', 'umbrella']) await grant(organization, 100);
      for (const organization of ['acme', 'acme', 'initech', 'initech']) await grant(organization, 1);
      expect(await running.accounts.charge('acme', 12)).toEqual({ kind: 'charged', remaining: 0 });
      expect(await running.accounts.charge('initech', 2)).toEqual({ kind: 'charged', remaining: 0 });
      for (const [organization, remaining] of [
        ['globex', 100],
        ['umbrella', 100],
        ['acme', 0],
        ['initech', 0],
      ] as const) {
        expect(await running.accounts.organization(organization)).toMatchObject({ remaining });
      }
    },
  );

  it.skipIf(!canDump)(
    'whose tables a running server may not enter says so, and is entered once it may',
    async (test) => {
      const trial = await Trial.begin(test);
      const address = new URL(trial.url);
      const client = new Client({ connectionString: trial.url });
      await client.connect();
      await client.query(
        `CREATE ROLE granted LOGIN; GRANT CREATE ON DATABASE "${address.pathname.slice(1)}" TO granted`,
      );
      address.username = 'granted';
      const running = await trial.open(address.href);
      await restore(trial.url, (await dumped(trial.url)).replace(/^ALTER .* OWNER TO .*$/gm, ''));
      const isTold = () =>
        trial.faults.some((fault) => /cannot be used: permission denied for sequence/.test(fault ?? ''));
      await client.query('GRANT USAGE ON SCHEMA paygrade TO granted');
      await client.query('GRANT ALL ON ALL TABLES IN SCHEMA paygrade TO granted');
      await until('the server has told that it may not enter', isTold);
      expect(await reserve(running, orderFrom(1000))).toMatchObject({
        kind: 'unavailable',
        detail: expect.stringMatching(/permission denied for sequence/),
      });
      await client.query('GRANT ALL ON ALL SEQUENCES IN SCHEMA paygrade TO granted');
      await trial.entered();
      await until('nothing is missing any more', () => running.fault() === undefined);
      expect(await reserve(running, orderFrom(1000))).toMatchObject({ kind: 'reserved' });
      await running.close();
      await client.query('DROP OWNED BY granted; DROP ROLE granted');
      await client.end();
    },
  );

  it.skipIf(!canDump)(
    'that is used with another STATE_KEY cannot be used by a server that runs, which says so',
    async (test) => {
      const trial = await Trial.begin(test);
      const others = await trial.freshUrl();
      const [running, other] = [
        await trial.open(trial.url, Buffer.alloc(32, 1)),
        await trial.open(others, Buffer.alloc(32, 2)),
      ];
      await other.accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });
      await restore(trial.url, await dumped(others));
      // A renewal that waited for the restore may have been given up, which is another fault.
      const reason = /^the tables .* cannot be used: STATE_KEY is not the key that/;
      await until('the server knows that the key is another', () => reason.test(running.fault() ?? ''));
      expect(trial.faults.splice(0).at(-1)).toBe(running.fault());
      expect(await reserve(running, orderFrom(1000))).toMatchObject({ kind: 'unavailable', detail: running.fault() });
      expect(await running.accounts.charge('acme', 1)).toEqual({ kind: 'unavailable', detail: running.fault() });
      // Several renewals: each tries again, and tells nothing new.
      await pause(2 * LOOK_MS + 500);
      expect(trial.faults).toEqual([]);
      await queryAt(trial.url, `DELETE FROM paygrade.secrets WHERE name = '${KEY_CHECK}'`);
      await trial.entered();
      expect([running.fault(), trial.faults.at(-1)]).toEqual([undefined, undefined]);
      await sell(running, orderFrom(1000));
      expect(await running.accounts.charge('acme', 1)).toEqual({ kind: 'charged', remaining: 9 });
    },
  );

  it.skipIf(!canDump)(
    'gives the resolves again that a server which runs has finished since the backup',
    async (test) => {
      const trial = await Trial.begin(test);
      const running = await trial.open();
      const given: ResolveId[] = [];
      const take = async (): Promise<void> => {
        given.push(...(await running.resolves.takePending()).map(({ id }) => id));
      };
      running.resolves.onPending?.(
        () => void take(),
        () => 10,
      );
      await take();
      const [finished, working] = [newResolveId(new Chance(++nonce)), newResolveId(new Chance(++nonce))];
      const question = { url: 'https://target.example/', include: [] };
      for (const id of [finished, working]) {
        await running.resolves.create({
          id,
          tokenDigest: new Uint8Array(32),
          createdAtMs: systemClock.nowMs(),
          question,
        });
      }
      const dump = await dumped(trial.url);
      await running.resolves.finish(finished, 'resolved', '{}');
      await restore(trial.url, dump);
      await trial.entered();
      await until('the resolve is given', () => given.length > 0);
      await running.resolves.finish(finished, 'resolved', '{}');
      await take();
      expect(given).toEqual([finished]);
      expect(await running.resolves.find(working)).toMatchObject({ status: 'pending' });
    },
  );

  it.skipIf(!canDump)('takes no claim that waited while its server entered the restored tables', async (test) => {
    const trial = await Trial.begin(test);
    const looks = new HeldLooks();
    const server = await trial.open(trial.url, undefined, looks);
    const dump = await dumped(trial.url);
    const forgotten = orderFrom(150);
    await sell(server, forgotten);
    await restore(trial.url, dump);
    const client = new Client({ connectionString: trial.url });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE paygrade.claims IN EXCLUSIVE MODE');
    const waiting = reserve(server, forgotten);
    const isWaiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until('the claim waits', async () => (await queryAt(trial.url, isWaiting)) === 1);
    // At once, because a statement is given up after five seconds.
    looks.letGo();
    await trial.entered();
    await client.query('COMMIT');
    await client.end();
    // It is refused as well when a new connection shows the other tables before it waits.
    const detail = expect.stringMatching(/this authorization may have been used before that$/);
    expect(await waiting).toMatchObject({ kind: 'unavailable', detail });
  });
});
