/**
 * Migrates the tables of a database to this release: forward only, each step in its own transaction, by one process at a time.
 * The right to migrate is a row with a lease; each step's transaction locks that row, so a process whose lease runs out in a
 * long step is not overtaken before the step ends. A database that a newer release has migrated is refused.
 */
import { HOUR_MS } from '../../base/durations.ts';
import { StateError } from '../state-error.ts';
import type { Database } from './database.ts';
import { StatementError } from './failures.ts';
import type { DomainTables } from './tables/table.ts';
import type { Query } from './transaction.ts';

/** After this time another process may continue the migration of a dead one. */
const LEASE_MS = 10_000;
const LOOK_PAUSE_MS = 200;
/** Longest a step may take. */
const STEP_MS = HOUR_MS;

/** When two processes create the same object at once, one gets these codes despite IF NOT EXISTS. */
const CREATED_MEANWHILE: ReadonlySet<string> = new Set(['23505', '42P06', '42P07', '42710']);

const FOUNDATION = `
  CREATE SCHEMA IF NOT EXISTS paygrade;
  CREATE TABLE IF NOT EXISTS paygrade.versions (domain text PRIMARY KEY, version integer NOT NULL);
  CREATE TABLE IF NOT EXISTS paygrade.migrating (
    id integer PRIMARY KEY CHECK (id = 1), owner text NOT NULL, until_ms bigint NOT NULL
  )`;

const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Domain -> version. */
export type Versions = ReadonlyMap<string, number>;

/** Of a database that a release has migrated. */
export async function readVersions(query: Query): Promise<Versions> {
  const rows = await query({ text: 'SELECT domain, version FROM paygrade.versions' });
  return new Map(rows.map(({ domain, version }) => [domain as string, version as number]));
}

/** Server encodings that can store every text; any other refuses statements with characters that it lacks. */
const ENCODINGS: ReadonlySet<unknown> = new Set(['UTF8', 'SQL_ASCII']);

/** @throws StateError when the database's encoding cannot store every text, or tables do not say of which release they are */
async function versionsOf(query: Query): Promise<Versions> {
  const [found] = await query({
    text: `SELECT to_regclass('paygrade.versions') IS NOT NULL AS is_there, to_regproc('paygrade.now_ms') IS NOT NULL AS is_used,
      current_setting('server_encoding') AS encoding`,
  });
  if (!ENCODINGS.has(found?.encoding)) {
    throw new StateError(
      `the encoding of the database is ${String(found?.encoding)}; create one whose encoding is UTF8`,
    );
  }
  const versions = found?.is_there === true ? await readVersions(query) : undefined;
  // A dump that is being read in; tables that were made beside it would keep its own out. The first step of a migration makes the
  // function and a row at once.
  if (found?.is_used === true && (versions === undefined || versions.size === 0)) {
    const lacks = versions === undefined ? 'table versions' : 'all rows of table versions';
    throw new StateError(`the database lacks ${lacks} in the schema paygrade`);
  }
  return versions ?? new Map();
}

/** @throws StateError when a newer release has migrated the database */
function pendingOf(tables: readonly DomainTables[], versions: Versions): boolean {
  const known = new Map(tables.map(({ name, migrations }) => [name, migrations.length]));
  for (const [domain, version] of versions) {
    if (version > (known.get(domain) ?? 0)) {
      throw new StateError('the database was migrated by a newer release; start that one, or a newer one still');
    }
  }
  return tables.some(({ name, migrations }) => (versions.get(name) ?? 0) < migrations.length);
}

/** Not where it is made, because a role that may use it need not have the rights to make it. */
async function foundation(database: Database): Promise<void> {
  const [found] = await database.run({ text: "SELECT to_regclass('paygrade.migrating') IS NOT NULL AS is_there" });
  if (found?.is_there === true) return;
  for (let tries = 0; ; tries++) {
    try {
      await database.transaction((query) => query({ text: FOUNDATION }));
      return;
    } catch (failure) {
      if (!(failure instanceof StatementError) || !CREATED_MEANWHILE.has(failure.code) || tries > 20) throw failure;
    }
  }
}

/** True when this process may migrate now. Repeating it renews the lease. */
async function takeLease(query: Query, owner: string): Promise<boolean> {
  const rows = await query({
    text: `INSERT INTO paygrade.migrating AS held (id, owner, until_ms) VALUES (1, $1, ${NOW_MS} + $2::bigint)
           ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
           WHERE held.owner = excluded.owner OR held.until_ms < ${NOW_MS}
           RETURNING owner`,
    values: [owner, LEASE_MS],
    query_timeout: STEP_MS,
  });
  return rows.length === 1;
}

async function step(query: Query, owner: string, { name }: DomainTables, version: number, text: string): Promise<void> {
  await query({ text: 'SET LOCAL statement_timeout = 0' });
  // Locks the row until the commit; a process that has lost its lease fails here.
  if (!(await takeLease(query, owner))) throw new StateError('another process has taken over the migration');
  const [row] = await query({ text: 'SELECT version FROM paygrade.versions WHERE domain = $1', values: [name] });
  if (((row?.version as number | undefined) ?? 0) !== version - 1) return;
  await query({ text, query_timeout: STEP_MS });
  await query({
    text: `INSERT INTO paygrade.versions (domain, version) VALUES ($1, $2)
           ON CONFLICT (domain) DO UPDATE SET version = excluded.version`,
    values: [name, version],
  });
}

/**
 * @param owner names this process in the lock row
 * @throws StateError when a newer release has migrated the database, or its encoding cannot store every text
 */
export async function migrate(database: Database, tables: readonly DomainTables[], owner: string): Promise<void> {
  const pending = async (): Promise<boolean> => pendingOf(tables, await database.transaction(versionsOf));
  if (!(await pending())) return;
  await foundation(database);
  while (!(await database.transaction((query) => takeLease(query, owner)))) {
    await database.pause(LOOK_PAUSE_MS);
    if (!(await pending())) return;
  }
  const versions = await database.transaction(versionsOf);
  pendingOf(tables, versions);
  for (const domain of tables) {
    for (let version = (versions.get(domain.name) ?? 0) + 1; version <= domain.migrations.length; version++) {
      const text = domain.migrations[version - 1] as string;
      await database.transaction((query) => step(query, owner, domain, version, text));
    }
  }
  await database.run({ text: 'DELETE FROM paygrade.migrating WHERE owner = $1', values: [owner] });
}

/** Which tables a database has: none, those of an older release, or those of this one. */
export type TablesFound = 'none' | 'older' | 'current';

/** @throws StateError when a newer release has migrated the database */
export async function tablesIn(database: Database, tables: readonly DomainTables[]): Promise<TablesFound> {
  const versions = await database.transaction(versionsOf);
  if (!pendingOf(tables, versions)) return 'current';
  return versions.size === 0 ? 'none' : 'older';
}

/**
 * True for a database that no release has used.
 * @throws StateError when it has the tables of another release
 */
export async function checkMigrated(database: Database, tables: readonly DomainTables[]): Promise<boolean> {
  const found = await tablesIn(database, tables);
  if (found !== 'older') return found === 'none';
  throw new StateError('the tables of the database are those of an older release; a server of this one migrates them');
}
