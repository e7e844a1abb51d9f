/**
 * A migrated, empty database for one test, on the server of postgres.ts. If the test owns the clock, the database uses
 * the test's time too: each statement sets it first.
 */
import { Client } from 'pg';
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';
import { parseDatabaseUrl } from '../../src/storage/postgres/address.ts';
import {
  type Connection,
  type Connections,
  openConnections,
  type Statement,
} from '../../src/storage/postgres/connections.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { migrate } from '../../src/storage/postgres/migrations.ts';
import { NEEDED } from '../../src/storage/postgres/needs.ts';
import { TABLES } from '../../src/storage/postgres/tables/tables.ts';
import { ManualTime } from './manual-time.ts';
import { type TestServer, testServer } from './postgres.ts';

const LIMITS = { countMax: 4, statementMs: 5000, connectMs: 5000 };

/** The server's own time unless a test has set another. */
const TEST_CLOCK = `
  CREATE OR REPLACE FUNCTION paygrade.now_ms() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(current_setting('paygrade.test_ms', true), '')::bigint,
                    (extract(epoch FROM statement_timestamp()) * 1000)::bigint)
  $$`;

type Send = Connection['query'];

/** Connections whose statements go through `send`. @param send gets a statement, and what sends it to the database */
export function sentBy(
  connections: Connections,
  send: (statement: Statement, query: Send) => ReturnType<Send>,
): Connections {
  return {
    async connect() {
      const connection = await connections.connect();
      const query: Send = (statement) => connection.query(statement);
      return {
        query: (statement) => send(statement, query),
        on: (event: string, listener: never) => connection.on(event as 'error', listener),
        release: (isBroken) => connection.release(isBroken),
      };
    },
    end: () => connections.end(),
  };
}

/** Each statement runs at the time of `clock`. */
export const atTimeOf = (connections: Connections, clock: Clock): Connections =>
  sentBy(connections, async (statement, query) => {
    const setting = query({ text: `SET paygrade.test_ms = ${clock.nowMs()}` });
    const [result] = await Promise.all([query(statement), setting.catch(() => {})]);
    return result;
  });

export interface TestDatabase {
  readonly url: string;
  /** The same as a role that has the rights which a process needs (needs.ts), and no others. */
  readonly gateUrl: string;
  /** The connections of one more process. @param address that of the owner when not given */
  connections(address?: string): Connections;
  /** Gives the database back and cuts all open connections to it. */
  remove(): Promise<void>;
}

const GATE = 'paygrade_gate';
const PASSWORD = 'gate';

/** A role belongs to the whole server. */
const MAKE_GATE = `DO $$ BEGIN
    IF to_regrole('${GATE}') IS NULL THEN CREATE ROLE ${GATE} LOGIN PASSWORD '${PASSWORD}'; END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$`;

/** `table claims`, `function now_ms()` and `schema paygrade` as GRANT names them. */
const grantedOn = (object: string): string => object.replace(/^(table|function) /, '$1 paygrade.');

export const grantsTo = (role: string): string =>
  NEEDED.map((part) => part.split('\t') as [string, string, string])
    .filter(([, kind]) => kind === 'right')
    .map(([object, , right]) => `GRANT ${right} ON ${grantedOn(object)} TO ${role}`)
    .join('; ');

/** Without the identity, which each database has of its own. */
const TABLE_NAMES = `SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'paygrade'::regnamespace AND relkind = 'r' AND relname <> 'identity' ORDER BY 1`;

const NO_ROWS = '[]';

/** The rows of a table as JSON: an array of objects. */
interface TableRows {
  readonly name: string;
  readonly rows: string;
}

interface Template {
  readonly url: string;
  readonly tables: readonly TableRows[];
}

let template: Promise<Template> | undefined;

async function migratedTemplate(server: TestServer): Promise<Template> {
  const url = await server.freshUrl();
  const database = new Database(openConnections(parseDatabaseUrl(url), LIMITS), {
    clock: systemClock,
    timers: new ManualTime(),
    onStateFault() {},
  });
  await migrate(database, TABLES, 'template');
  await database.run({ text: TEST_CLOCK });
  await database.run({ text: MAKE_GATE });
  await database.run({ text: grantsTo(GATE) });
  const names = await database.run({ text: TABLE_NAMES });
  const tables: TableRows[] = [];
  for (const { name } of names as unknown as readonly TableRows[]) {
    const [row] = await database.run({
      text: `SELECT coalesce(jsonb_agg(to_jsonb(one)), '${NO_ROWS}')::text AS rows FROM paygrade.${name} AS one`,
    });
    tables.push({ name, rows: row?.rows as string });
  }
  await database.close();
  return { url, tables };
}

/** The code for a user that is no superuser and may not disable checks of foreign keys. */
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Resets a database to the rows of the template, in a hundredth of the time that PostgreSQL takes to copy a database
 * file by file. Tests that change tables take a separate database (`TestServer.freshUrl`).
 */
async function reset(url: string, tables: readonly TableRows[]): Promise<void> {
  const used = new Client({ connectionString: url });
  used.on('error', () => {});
  await used.connect();
  try {
    await used.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    const all = tables.map(({ name }) => `DELETE FROM paygrade.${name}`).join('; ');
    await used.query(`BEGIN; SET LOCAL session_replication_role = replica; ${all}`);
    for (const { name, rows } of tables) {
      if (rows === NO_ROWS) continue;
      await used.query(
        `INSERT INTO paygrade.${name} OVERRIDING SYSTEM VALUE
         SELECT * FROM jsonb_populate_recordset(NULL::paygrade.${name}, $1)`,
        [rows],
      );
    }
    // Claims go on: their serials do not begin at 1 in a new database either.
    await used.query(`SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
      FROM pg_sequences WHERE schemaname = 'paygrade' AND sequencename <> 'claims_serial_seq'`);
    await used.query('COMMIT');
  } finally {
    await used.end();
  }
}

/** Databases that no test uses. */
const free: string[] = [];

/** A copy whose tables know themselves: to a server it would be a restored one. */
async function copied(server: TestServer, templateUrl: string): Promise<string> {
  const url = await server.copyUrl(templateUrl);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('UPDATE paygrade.identity SET tables = paygrade.tables_id()');
  await client.end();
  return url;
}

/** @param clock the database's clock too; undefined = it has its own */
export async function testDatabase(server: TestServer, clock?: Clock): Promise<TestDatabase> {
  template ??= migratedTemplate(server);
  const { url: templateUrl, tables } = await template;
  const url = free.pop() ?? (await copied(server, templateUrl));
  const gate = new URL(url);
  [gate.username, gate.password] = [GATE, PASSWORD];
  return {
    url,
    gateUrl: gate.href,
    connections(address = url) {
      const connections = openConnections(parseDatabaseUrl(address), LIMITS);
      return clock === undefined ? connections : atTimeOf(connections, clock);
    },
    async remove() {
      try {
        await reset(url, tables);
        free.push(url);
      } catch (failure) {
        if ((failure as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw failure;
        await server.drop(url);
      }
    },
  };
}

/** The server, for files whose tests all need one: `describe.skipIf(SERVER === undefined)`. */
export const SERVER: TestServer | undefined = await testServer();
