/** Inspects a shared database for `doctor`: what keeps a server from starting or selling. Changes nothing. */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { StateError } from '../state-error.ts';
import { checkDurability, checkSessions } from './backend.ts';
import { type DatabasePorts, onReached, type ReachedDatabase } from './command-database.ts';
import type { Database } from './database.ts';
import { type TablesFound, tablesIn } from './migrations.ts';
import { NEEDED } from './needs.ts';
import { KEY_CHECK, keyCheckOf, otherKey } from './secrets.ts';
import { TABLES } from './tables/tables.ts';
import { Wholeness } from './wholeness.ts';

const STATEMENT_MS = 5000;

export interface InspectedDatabase {
  /** The address without user and password. */
  readonly shown: string;
  /** A start creates missing tables and migrates older ones. */
  readonly tables: TablesFound;
  /** Servers that hold a lease; also 0 when the tables are of another release. */
  readonly serverCount: number;
}

export interface InspectOptions {
  readonly sync: 'full' | 'normal';
  readonly stateKey: Uint8Array | undefined;
}

/** @throws StateError one line: why a server with these options would not start here, or not sell */
export function inspectDatabase(
  url: string,
  options: InspectOptions,
  ports: DatabasePorts,
): Promise<InspectedDatabase> {
  return onReached(url, STATEMENT_MS, ports, (reached) => inspect(reached, options));
}

async function inspect(
  { database, address, takesWrites }: ReachedDatabase,
  { sync, stateKey }: InspectOptions,
): Promise<InspectedDatabase> {
  const { shown } = address;
  if (!takesWrites) throw new StateError(`the database ${shown} takes no writes`);
  const fault = database.fault();
  if (fault !== undefined) throw new StateError(fault);
  if (sync === 'full') await checkDurability(database, address);
  await checkSessions(database, address, randomUUID());
  const tables = await tablesIn(database, TABLES);
  if (tables === 'none') await checkMayCreate(database, shown);
  if (tables === 'older') await checkMayMigrate(database, shown);
  if (tables !== 'current') return { shown, tables, serverCount: 0 };
  await Wholeness.of((statement) => database.run(statement));
  const [kept] = await database.run({
    text: 'SELECT bytes FROM paygrade.secrets WHERE name = $1',
    values: [KEY_CHECK],
  });
  const isOther =
    kept !== undefined &&
    stateKey !== undefined &&
    !timingSafeEqual(keyCheckOf(stateKey), new Uint8Array(kept.bytes as Uint8Array));
  if (isOther) throw otherKey(address);
  const [alive] = await database.run({
    text: 'SELECT count(*) AS count FROM paygrade.processes WHERE lease_until_ms >= paygrade.now_ms()',
  });
  return { shown, tables, serverCount: alive?.count as number };
}

async function checkMayCreate(database: Database, shown: string): Promise<void> {
  const [may] = await database.run({
    text: "SELECT has_database_privilege(current_database(), 'CREATE') AS may_create",
  });
  if (may?.may_create === true) return;
  throw new StateError(
    `the database ${shown} is empty, and its user may not create the tables: grant it CREATE on the database`,
  );
}

/** $1 parts. Tables may be changed by their owner, who also needs the schema for new ones. */
const MAY_MIGRATE = `
  SELECT has_schema_privilege('paygrade', 'CREATE') AND NOT EXISTS (
    SELECT FROM pg_class WHERE relnamespace = 'paygrade'::regnamespace AND 'table ' || relname || E'\\tobject\\t' = ANY ($1::text[])
    AND NOT pg_has_role(relowner, 'USAGE')) AS may_migrate`;

async function checkMayMigrate(database: Database, shown: string): Promise<void> {
  const [may] = await database.run({ text: MAY_MIGRATE, values: [NEEDED] });
  if (may?.may_migrate === true) return;
  throw new StateError(
    `the database ${shown} has the tables of an older release, and its user may not change them: it must own them, and have CREATE on the schema paygrade`,
  );
}
