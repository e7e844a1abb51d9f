/** A server that gives this process fewer connections than it asks for. */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts';
import { CONNECTION_LIMITS } from '../../../src/storage/postgres/backend.ts';
import { openConnections } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { startPostgres } from '../../support/postgres.ts';

const server = await startPostgres();
if (server === undefined) console.log('skipping a server of few connections: there is no PostgreSQL to start');
afterAll(() => server?.close());

/** A database as a user sees it who may have `count` connections. */
async function withConnections(count: number): Promise<{ readonly database: Database; readonly faults: unknown[] }> {
  const url = new URL(await server!.freshUrl());
  const openAs = (user: string, faults: unknown[] = []) => {
    url.username = user;
    const connections = openConnections(parseDatabaseUrl(url.href), CONNECTION_LIMITS);
    const onFault = (fault: unknown): void => void faults.push(fault);
    const database = new Database(connections, { clock: systemClock, timers: systemTimers, onFault });
    return { database, faults };
  };
  const { database: owner } = openAs(url.username);
  await owner.run({ text: `CREATE ROLE user_of_${count} LOGIN CONNECTION LIMIT ${count}` });
  await owner.close();
  return openAs(`user_of_${count}`);
}

const STATEMENT = { text: 'SELECT pg_sleep(0.02)' };

describe.skipIf(server === undefined)('a database that gives few connections', () => {
  it('is not away while there are some: statements take turns on them', async () => {
    const { database, faults } = await withConnections(3);
    onTestFinished(() => database.close());
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 40 }, () => database.run(STATEMENT)));
    }
    expect(faults).toEqual([]);
    expect(database.counts.repeats).toBe(0);
  });

  it('is away when there is none', async () => {
    const { database, faults } = await withConnections(0);
    onTestFinished(() => database.close());
    database.endWaits();
    await expect(Promise.all([database.run(STATEMENT), database.run(STATEMENT)])).rejects.toThrow(
      'too many connections',
    );
    expect(faults).toEqual([expect.stringMatching(/^the database cannot be used: too many connections/)]);
  });
});
