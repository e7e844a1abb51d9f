/** A server that gives this process fewer connections or rights than it needs, and statements that take long. */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { OutageError } from '../../../src/base/outage.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts';
import { CONNECTION_LIMITS, checkSessions, openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { BooksReader } from '../../../src/storage/postgres/books.ts';
import { Hints } from '../../../src/storage/postgres/callbacks/hints.ts';
import { onDatabase } from '../../../src/storage/postgres/command-database.ts';
import { type ConnectionLimits, type Connections, openConnections } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { StatementError } from '../../../src/storage/postgres/failures.ts';
import { inspectDatabase } from '../../../src/storage/postgres/inspect.ts';
import { migrate } from '../../../src/storage/postgres/migrations.ts';
import { TABLES } from '../../../src/storage/postgres/tables/tables.ts';
import { StateError } from '../../../src/storage/state-error.ts';
import { startPostgres } from '../../support/postgres.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';
import { pause, until } from '../../support/until.ts';

const server = await startPostgres();
if (server === undefined) console.log('skipping a server of few connections: there is no PostgreSQL to start');
afterAll(() => server?.close());

let roleCount = 0;

/** A database as a user sees it who may have `count` connections. */
async function withConnections(count: number): Promise<{ readonly database: Database; readonly faults: unknown[] }> {
  const url = new URL(await server!.freshUrl());
  const openAs = (user: string, faults: unknown[] = []) => {
    url.username = user;
    const connections = openConnections(parseDatabaseUrl(url.href), CONNECTION_LIMITS);
    const onStateFault = (fault: unknown): void => void faults.push(fault);
    const database = new Database(connections, { clock: systemClock, timers: systemTimers, onStateFault });
    return { database, faults };
  };
  const { database: owner } = openAs(url.username);
  const role = `user_${++roleCount}`;
  await owner.run({ text: `CREATE ROLE ${role} LOGIN CONNECTION LIMIT ${count}` });
  await owner.close();
  return openAs(role);
}

describe.skipIf(SERVER === undefined)('a read of the whole books', () => {
  it('may take longer than other statements, and the database is not away meanwhile', async () => {
    const on = await testDatabase(SERVER!);
    const statementMs = 200;
    const faults: unknown[] = [];
    const connections = openConnections(parseDatabaseUrl(on.url), { ...CONNECTION_LIMITS, statementMs });
    const onStateFault = (fault: unknown): void => void faults.push(fault);
    const database = new Database(connections, { clock: systemClock, timers: systemTimers, onStateFault });
    const others = on.connections();
    const locking = await others.connect();
    onTestFinished(async () => {
      locking.release(false);
      await others.end();
      await database.close();
      await on.remove();
    });
    await locking.query({ text: 'BEGIN; LOCK TABLE paygrade.sales' });
    const days = new BooksReader(database).days('2026-01-01');
    await pause(2 * statementMs);
    await locking.query({ text: 'COMMIT' });
    expect(await days).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('with a value that the database refuses is a bug and no outage', async () => {
    const on = await testDatabase(SERVER!);
    const database = new Database(on.connections(), { clock: systemClock, timers: systemTimers, onStateFault() {} });
    onTestFinished(async () => {
      await database.close();
      await on.remove();
    });
    const books = new BooksReader(database);
    const page = books.list({ sinceMs: Number.NaN, isUndeliveredOnly: false, after: undefined, limit: 1 });
    await expect(page).rejects.toBeInstanceOf(StatementError);
    await expect(books.days('no day')).rejects.toBeInstanceOf(StatementError);
  });
});

describe.skipIf(SERVER === undefined)('a statement that is cancelled', () => {
  it.each(['for its time', 'by an administrator'])(
    '%s fails as an outage of its own; the database is not away',
    async (by) => {
      const on = await testDatabase(SERVER!);
      const faults: unknown[] = [];
      const connections = openConnections(parseDatabaseUrl(on.url), { ...CONNECTION_LIMITS, statementMs: 6000 });
      const onStateFault = (fault: unknown): void => void faults.push(fault);
      const database = new Database(connections, { clock: systemClock, timers: systemTimers, onStateFault });
      // Waits for nothing that comes later.
      database.endWaits();
      onTestFinished(async () => {
        await database.close();
        await on.remove();
      });
      const others = on.connections();
      const text = by === 'for its time' ? 'SET LOCAL statement_timeout = 50' : 'SELECT';
      const sleeping = database.transaction(async (query) => {
        await query({ text });
        return query({ text: 'SELECT pg_sleep(5)' });
      });
      const failed = expect(sleeping).rejects.toThrow(OutageError);
      if (by !== 'for its time') {
        const other = await others.connect();
        await until('it is cancelled', async () => {
          const { rows } = await other.query({
            text: "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(5)' AND state = 'active'",
          });
          return rows.length > 0;
        });
        other.release(false);
      }
      await others.end();
      await failed;
      expect(faults).toEqual([]);
      expect(database.fault()).toBeUndefined();
    },
  );
});

describe.skipIf(server === undefined)('a pool whose connections are all at work', () => {
  const open = async (limits: Partial<ConnectionLimits>) => {
    const faults: unknown[] = [];
    const connections = openConnections(parseDatabaseUrl(await server!.freshUrl()), {
      ...CONNECTION_LIMITS,
      ...limits,
    });
    const onStateFault = (fault: unknown): void => void faults.push(fault);
    const database = new Database(connections, { clock: systemClock, timers: systemTimers, onStateFault });
    onTestFinished(() => database.close());
    return { database, faults };
  };

  it('does not make the database count as away: only the statement that waits too long fails', async () => {
    const { database, faults } = await open({ countMax: 2, connectMs: 500 });
    database.endWaits();
    const sleep = { text: 'SELECT pg_sleep(0.9)' };
    const ends = await Promise.allSettled([sleep, sleep, STATEMENT].map((statement) => database.run(statement)));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ends[2]).toMatchObject({ reason: expect.any(OutageError) });
    expect(faults).toEqual([]);
  });

  it('notices that the database hangs, however many statements wait', async () => {
    const { database, faults } = await open({ countMax: 2, statementMs: 600, connectMs: 300 });
    await Promise.all([database.run(STATEMENT), database.run(STATEMENT)]);
    server!.freeze(true);
    const waiting = setInterval(() => void database.run(STATEMENT).catch(() => {}), 20);
    try {
      await until('it is away', async () => faults.length > 0);
    } finally {
      clearInterval(waiting);
      server!.freeze(false);
    }
    await until('it is back', async () => database.fault() === undefined);
  });

  it('gets a connection back at once when a statement of its transaction was not answered', async () => {
    const statementMs = 1000;
    const { database } = await open({ countMax: 2, statementMs });
    await database.run(STATEMENT);
    server!.freeze(true);
    const startMs = performance.now();
    const failed = expect(database.transaction((query) => query(STATEMENT))).rejects.toThrow(OutageError);
    try {
      await failed;
      expect(performance.now() - startMs).toBeLessThan(2 * statementMs);
    } finally {
      server!.freeze(false);
    }
  });
});

const STATEMENT = { text: 'SELECT pg_sleep(0.02)' };

describe.skipIf(SERVER === undefined)('a pooler before the database', () => {
  /** @param isShared every connection has the same session, as idle ones may where transactions are pooled */
  const starting = async (isShared: boolean): Promise<Backend> => {
    const on = await testDatabase(SERVER!);
    const connections = on.connections();
    const session = await connections.connect();
    onTestFinished(async () => {
      session.release(true);
      await on.remove();
    });
    const pooled: Connections = {
      connect: async () => ({ ...session, release() {} }),
      end: () => connections.end(),
    };
    return openPostgresBackend(
      { databaseUrl: on.url, sync: 'normal', salesKeptMs: 1, callbackBytes: 1, play: undefined },
      {
        ...{ clock: systemClock, timers: systemTimers, random: systemRandom, onStateFault() {}, onFailure() {} },
        openConnections: () => (isShared ? pooled : connections),
      },
    );
  };

  it('is refused in one line when it pools transactions', async () => {
    await expect(starting(true)).rejects.toMatchObject({
      name: 'StateError',
      message: expect.stringMatching(/^the database \S+ is behind a pooler that pools transactions; [^\n]+$/),
    });
  });

  it('may pool sessions', async () => {
    await (await starting(false)).close();
  });
});

describe.skipIf(server === undefined)('a database that lacks something', () => {
  it('or whose user lacks a right is refused in one line by a start, a command and a look at it', async () => {
    const freshUrl = await server!.freshUrl();
    const url = new URL(freshUrl);
    const ports = { clock: systemClock, timers: systemTimers };
    const start = () =>
      openPostgresBackend(
        { databaseUrl: url.href, sync: 'normal', salesKeptMs: 1, callbackBytes: 1, play: undefined },
        { ...ports, random: systemRandom, onStateFault() {}, onFailure() {} },
      );
    const command = () => onDatabase(url.href, 'one', ports, async () => {});
    const inspect = () => inspectDatabase(url.href, { sync: 'normal', stateKey: undefined }, ports);
    const refused = (end: string) => ({
      name: 'StateError',
      message: expect.stringMatching(`^the database 127\\.0\\.0\\.1:\\d+/\\w+ ${end}`),
    });
    const owner = new Database(openConnections(parseDatabaseUrl(url.href), CONNECTION_LIMITS), {
      ...ports,
      onStateFault() {},
    });
    await owner.run({ text: 'CREATE ROLE weak LOGIN' });
    url.username = 'weak';
    const denied = refused('cannot be used: permission denied for database');
    await expect(start()).rejects.toMatchObject(denied);
    await expect(command()).rejects.toMatchObject(denied);
    await expect(inspect()).rejects.toMatchObject(
      refused('is empty, and its user may not create the tables: grant it CREATE on the database$'),
    );
    await migrate(owner, TABLES, 'owner');
    await owner.run({ text: 'ALTER FUNCTION paygrade.is_alive RENAME TO aside' });
    await owner.close();
    const closed = refused('cannot be used: permission denied for schema paygrade$');
    for (const refusedOne of [start, command, inspect]) await expect(refusedOne()).rejects.toMatchObject(closed);
    url.username = new URL(freshUrl).username;
    const lacking = new StateError('the database lacks function is_alive(text) in the schema paygrade');
    for (const refusedOne of [start, inspect]) await expect(refusedOne()).rejects.toEqual(lacking);
  });
});

describe.skipIf(server === undefined)('a database with the tables of an older release', () => {
  it('is named by doctor to a role that may not change them, and the role that made them needs no more to go on', async () => {
    const [MAKER, USER] = [`maker_${process.pid}`, `user_${process.pid}`];
    const ownerUrl = await server!.freshUrl();
    const url = new URL(ownerUrl);
    const ports = { clock: systemClock, timers: systemTimers };
    const options = { sync: 'normal', salesKeptMs: 1, callbackBytes: 1, play: undefined } as const;
    const start = async (): Promise<void> => {
      const all = { ...ports, random: systemRandom, onStateFault() {}, onFailure() {} };
      await (await openPostgresBackend({ ...options, databaseUrl: url.href }, all)).close();
    };
    const inspect = () => inspectDatabase(url.href, { sync: 'normal', stateKey: undefined }, ports);
    const opened = (href: string): Database =>
      new Database(openConnections(parseDatabaseUrl(href), CONNECTION_LIMITS), { ...ports, onStateFault() {} });
    const owner = opened(ownerUrl);
    await owner.run({
      text: `CREATE ROLE ${MAKER} LOGIN; CREATE ROLE ${USER} LOGIN;
        GRANT CREATE ON DATABASE ${url.pathname.slice(1)} TO ${MAKER}`,
    });
    url.username = MAKER;
    const maker = opened(url.href);
    const older = TABLES.map((one) =>
      one.name === 'payments' ? { ...one, migrations: one.migrations.slice(0, -1) } : one,
    );
    await migrate(maker, older, MAKER);
    await maker.close();
    await owner.run({
      text: `REVOKE CREATE ON DATABASE ${url.pathname.slice(1)} FROM ${MAKER};
        GRANT ALL ON ALL TABLES IN SCHEMA paygrade TO ${USER}`,
    });
    url.username = USER;
    for (const right of ['USAGE', 'CREATE']) {
      await owner.run({ text: `GRANT ${right} ON SCHEMA paygrade TO ${USER}` });
      await expect(inspect()).rejects.toMatchObject({
        name: 'StateError',
        message: expect.stringMatching(/ may not change them: /),
      });
      await expect(start()).rejects.toMatchObject({
        name: 'StateError',
        message: expect.stringMatching(/ cannot be used: /),
      });
      // A start that failed half way holds the right to migrate for its lease.
      await owner.run({ text: 'DELETE FROM paygrade.migrating' });
    }
    url.username = MAKER;
    expect(await inspect()).toMatchObject({ tables: 'older' });
    await start();
    expect(await inspect()).toMatchObject({ tables: 'current' });
    await owner.close();
    await server!.drop(ownerUrl);
  });
});

/** From here on beside each other: they wait for what comes too late. */
describe.skipIf(server === undefined).concurrent('a database that fails in the middle of a command', () => {
  const OWN = 'pg_backend_pid()';
  it.each([
    ['cancels its statement', `SELECT pg_cancel_backend(${OWN}), pg_sleep(5)`, 'cannot be used: canceling statement'],
    [
      'ends its connections',
      `SELECT pg_terminate_backend(${OWN}), pg_sleep(5)`,
      'so a change that was asked for may have been made: ',
    ],
  ])('is named in one line when it %s', async (_what, text, words) => {
    const ports = { clock: systemClock, timers: systemTimers };
    const command = onDatabase(await server!.freshUrl(), 'one', ports, (database) => database.run({ text }));
    await expect(command).rejects.toMatchObject({ name: 'StateError', message: expect.stringContaining(words) });
  });

  it('is named in one line when it answers an inspection too late', async ({ onTestFinished }) => {
    const url = await server!.freshUrl();
    const ports = { clock: systemClock, timers: systemTimers };
    await onDatabase(url, 'one', ports, async () => {});
    const others = openConnections(parseDatabaseUrl(url), CONNECTION_LIMITS);
    const locking = await others.connect();
    onTestFinished(async () => {
      locking.release(true);
      await others.end();
    });
    await locking.query({ text: 'BEGIN; LOCK TABLE paygrade.processes' });
    await expect(inspectDatabase(url, { sync: 'normal', stateKey: undefined }, ports)).rejects.toMatchObject({
      name: 'StateError',
      message: expect.stringContaining('cannot be used: '),
    });
  });
});

describe.skipIf(server === undefined).concurrent('a database that gives few connections', () => {
  it('is not away while there are some: statements take turns on them', async ({ onTestFinished }) => {
    const { database, faults } = await withConnections(3);
    onTestFinished(() => database.close());
    const before = database.statementCount;
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 40 }, () => database.run(STATEMENT)));
    }
    expect(faults).toEqual([]);
    expect(database.statementCount - before).toBe(3 * 40);
  });

  it('is not away when hints hold the only connection: a statement takes it from them', async ({ onTestFinished }) => {
    const { database, faults } = await withConnections(1);
    const heard: unknown[] = [];
    const hints = new Hints({
      timers: systemTimers,
      database,
      processId: 'one',
      onHint: (ids) => void heard.push(ids),
    });
    onTestFinished(async () => {
      await hints.close();
      await database.close();
    });
    hints.start();
    await until('it listens', () => heard.length > 0);
    // Longer than it takes the hints to connect again.
    const endMs = performance.now() + 1500;
    const before = database.statementCount;
    let runCount = 0;
    for (; performance.now() < endMs; runCount += 2) {
      await Promise.all([database.run(STATEMENT), database.run(STATEMENT)]);
    }
    expect(faults).toEqual([]);
    expect(database.statementCount - before).toBe(runCount);
  });

  it('is not away when a start looks for a pooler over the only connection', async ({ onTestFinished }) => {
    const { database, faults } = await withConnections(1);
    onTestFinished(() => database.close());
    await checkSessions(database, { shown: 'it' }, 'mark');
    await database.run(STATEMENT);
    expect(faults).toEqual([]);
  });

  it('is away when there is none', async ({ onTestFinished }) => {
    const { database, faults } = await withConnections(0);
    onTestFinished(() => database.close());
    database.endWaits();
    await expect(Promise.all([database.run(STATEMENT), database.run(STATEMENT)])).rejects.toThrow(
      'too many connections',
    );
    expect(faults).toEqual([expect.stringMatching(/^the database cannot be used: too many connections/)]);
  });
});
