/**
 * Opens a database for a command, beside running servers; it must answer at once and have the tables of this release.
 */
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { firstLineOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import { StateError } from '../state-error.ts';
import { parseDatabaseUrl } from './address.ts';
import { openConnections } from './connections.ts';
import { Database } from './database.ts';
import { DatabaseAwayError, deniedOr, InDoubtError } from './failures.ts';
import { checkMigrated, migrate } from './migrations.ts';
import { TABLES } from './tables/tables.ts';

const LIMITS = { countMax: 2, statementMs: MINUTE_MS, connectMs: 5000 };

export interface DatabasePorts {
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * Works on a database and closes its connections.
 * @param maker names a process that may create the tables in an empty database; undefined = they must exist
 * @throws StateError one line, without the password; and whatever `work` throws
 */
export async function onDatabase<T>(
  url: string,
  maker: string | undefined,
  { clock, timers }: DatabasePorts,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const address = parseDatabaseUrl(url);
  const database = new Database(openConnections(address, LIMITS), { clock, timers, onStateFault() {} });
  // A command does not wait for a database that is away.
  database.endWaits();
  try {
    await database.probe().catch((failure: unknown) => {
      throw new StateError(`the database ${address.shown} cannot be used: ${firstLineOf(failure)}`, { cause: failure });
    });
    const isEmpty = await checkMigrated(database, TABLES);
    if (isEmpty && maker === undefined) {
      throw new StateError(`the database ${address.shown} has no state: no server and no command has used it`);
    }
    if (isEmpty && maker !== undefined) await migrate(database, TABLES, maker);
    return await work(database);
  } catch (failure) {
    const { shown } = address;
    if (failure instanceof DatabaseAwayError) {
      throw new StateError(`the database ${shown} cannot be used: ${failure.message}`, { cause: failure });
    }
    if (failure instanceof InDoubtError) {
      throw new StateError(
        `the answer of the database ${shown} was lost, so a change that was asked for may have been made: ${failure.message}`,
        { cause: failure },
      );
    }
    throw deniedOr(failure, shown);
  } finally {
    await database.close();
  }
}
