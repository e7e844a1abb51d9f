/** A server whose /dev/shm is full: in its place, the call by which PostgreSQL takes memory there finds no space. */
import { chmodSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts';
import { CONNECTION_LIMITS } from '../../../src/storage/postgres/backend.ts';
import { openConnections } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { interposed } from '../../support/interposed.ts';
import { type OwnServer, startPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const FULL = interposed(`
int posix_fallocate(int fd, off_t offset, off_t length) {
  if (number() == 1) return ENOSPC;
  return ORIGINAL(int (*)(int, off_t, off_t), "posix_fallocate")(fd, offset, length);
}`);

async function startedOn(full: NonNullable<typeof FULL>): Promise<OwnServer | undefined> {
  chmodSync(dirname(full.file), 0o755); // the server runs as another user
  Object.assign(process.env, full.variables);
  try {
    return await startPostgres();
  } finally {
    for (const name of Object.keys(full.variables)) delete process.env[name];
  }
}

const server = FULL === undefined ? undefined : await startedOn(FULL);
afterAll(() => server?.close());

it.skipIf(server === undefined)(
  'a statement that finds no memory for its workers is tried again, and stops no sale',
  async () => {
    const url = await server!.freshUrl();
    const operator = new Client({ connectionString: url });
    await operator.connect();
    await operator.query('CREATE TABLE numbers AS SELECT generate_series(1, 200000) AS number; ANALYZE numbers');
    for (const setting of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size'])
      await operator.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET ${setting} = 0`);
    await operator.end();
    const faults: (string | undefined)[] = [];
    const database = new Database(openConnections(parseDatabaseUrl(url), CONNECTION_LIMITS), {
      clock: systemClock,
      timers: systemTimers,
      onStateFault: (fault) => faults.push(fault),
    });
    writeFileSync(FULL!.file, '1');
    const counted = database.run({ text: 'SELECT count(*) AS count FROM numbers' });
    await until('it has been tried again', () => database.statementCount > 2);
    expect([database.fault(), faults]).toEqual([undefined, []]);
    writeFileSync(FULL!.file, '0');
    expect(await counted).toEqual([{ count: 200_000 }]);
    await database.close();
  },
);
