/**
 * A migrated, empty database for one test, on the server of postgres.ts. Where the test owns the clock, the database has the
 * test's time too: each statement says it first.
 */
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { parseDatabaseUrl } from '../../src/storage/postgres/address.ts';
import { type Connections, openConnections } from '../../src/storage/postgres/connections.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { migrate } from '../../src/storage/postgres/migrations.ts';
import { TABLES } from '../../src/storage/postgres/tables/tables.ts';
import { ManualTime } from './manual-time.ts';
import { type TestServer, testServer } from './postgres.ts';

const LIMITS = { countMax: 4, statementMs: 5000, connectMs: 5000 };

/** The server's own time where no test has said another. */
const TEST_CLOCK = `
  CREATE OR REPLACE FUNCTION paygrade.now_ms() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(current_setting('paygrade.test_ms', true), '')::bigint,
                    (extract(epoch FROM statement_timestamp()) * 1000)::bigint)
  $$`;

/** Each statement runs at the time of `clock`. */
function atTimeOf(connections: Connections, clock: Clock): Connections {
  return {
    async connect() {
      const connection = await connections.connect();
      return {
        async query(statement) {
          const setting = connection.query({ text: `SET paygrade.test_ms = ${clock.nowMs()}` });
          const [result] = await Promise.all([connection.query(statement), setting.catch(() => {})]);
          return result;
        },
        on: (event: string, listener: never) => connection.on(event as 'error', listener),
        release: (isBroken) => connection.release(isBroken),
      };
    },
    end: () => connections.end(),
  };
}

export interface TestDatabase {
  readonly url: string;
  /** The connections of one more process. */
  connections(): Connections;
  /** Drops the database; what is still connected loses its connections. */
  remove(): Promise<void>;
}

let template: Promise<string> | undefined;

async function migratedTemplate(server: TestServer): Promise<string> {
  const url = await server.freshUrl();
  const database = new Database(openConnections(parseDatabaseUrl(url), LIMITS), {
    clock: systemClock,
    timers: new ManualTime(),
    onFault() {},
  });
  await migrate(database, TABLES, 'template');
  await database.run({ text: TEST_CLOCK });
  await database.close();
  return url;
}

/** @param clock the database's clock too; undefined = it has its own */
export async function testDatabase(server: TestServer, clock?: Clock): Promise<TestDatabase> {
  template ??= migratedTemplate(server);
  const url = await server.copyUrl(await template);
  return {
    url,
    connections() {
      const connections = openConnections(parseDatabaseUrl(url), LIMITS);
      return clock === undefined ? connections : atTimeOf(connections, clock);
    },
    remove: () => server.drop(url),
  };
}

/** The server, for files whose tests all need one: `describe.skipIf(SERVER === undefined)`. */
export const SERVER: TestServer | undefined = await testServer();
