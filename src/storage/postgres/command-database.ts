/** Opens a database for a command, beside running servers; it must answer at once. */
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { firstLineOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import { StateError } from '../state-error.ts';
import { type DatabaseAddress, parseDatabaseUrl } from './address.ts';
import { openConnections } from './connections.ts';
import { Database } from './database.ts';
import { DatabaseAwayError, InDoubtError, lackOr } from './failures.ts';
import { checkMigrated, migrate } from './migrations.ts';
import { TABLES } from './tables/tables.ts';

const CONNECTION_COUNT_MAX = 2;
const CONNECT_MS = 5000;

export interface DatabasePorts {
  readonly clock: Clock;
  readonly timers: Timers;
}

/** A database that answers. */
export interface ReachedDatabase {
  readonly database: Database;
  readonly address: DatabaseAddress;
  readonly takesWrites: boolean;
}

/**
 * Works on a database, whatever tables it has, and closes its connections.
 * @param statementMs longest time of a statement
 * @throws StateError one line, without the password; and whatever `work` throws
 */
export async function onReached<T>(
  url: string,
  statementMs: number,
  { clock, timers }: DatabasePorts,
  work: (reached: ReachedDatabase) => Promise<T>,
): Promise<T> {
  const address = parseDatabaseUrl(url);
  const { shown } = address;
  const limits = { countMax: CONNECTION_COUNT_MAX, statementMs, connectMs: CONNECT_MS };
  const database = new Database(openConnections(address, limits), { clock, timers, onStateFault() {} });
  // A command does not wait for a database that is away.
  database.endWaits();
  try {
    const takesWrites = await database.probe().catch((failure: unknown) => {
      throw new StateError(`the database ${shown} cannot be used: ${firstLineOf(failure)}`, { cause: failure });
    });
    return await work({ database, address, takesWrites });
  } catch (failure) {
    if (failure instanceof DatabaseAwayError) {
      throw new StateError(`the database ${shown} cannot be used: ${failure.message}`, { cause: failure });
    }
    if (failure instanceof InDoubtError) {
      throw new StateError(
        `the answer of the database ${shown} was lost, so a change that was asked for may have been made: ${failure.message}`,
        { cause: failure },
      );
    }
    throw lackOr(failure, shown);
  } finally {
    await database.close();
  }
}

/**
 * Works on a database that has the tables of this release, as {@link onReached}.
 * @param maker names a process that may create the tables in an empty database; undefined = they must exist
 */
export function onDatabase<T>(
  url: string,
  maker: string | undefined,
  ports: DatabasePorts,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return onReached(url, MINUTE_MS, ports, async ({ database, address }) => {
    const isEmpty = await checkMigrated(database, TABLES);
    if (isEmpty && maker === undefined) {
      throw new StateError(`the database ${address.shown} has no state: no server and no command has used it`);
    }
    if (isEmpty && maker !== undefined) await migrate(database, TABLES, maker);
    return work(database);
  });
}
