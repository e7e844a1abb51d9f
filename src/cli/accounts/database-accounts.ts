/** The accounts in a database, used beside the servers that share it. */
import { awakeTimers } from '../../adapters/process/system-timers.ts';
import type { Clock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { PostgresAccounts } from '../../storage/postgres/accounts/accounts.ts';
import { onDatabase } from '../../storage/postgres/command-database.ts';
import { StateError } from '../../storage/state-error.ts';
import { commandErrorOf } from '../command.ts';
import { type OperatorAccounts, over } from './operator-accounts.ts';

/**
 * @param mayMake whether to create the tables in a database that no server has used yet; otherwise that is an error
 * @throws CommandError one line
 */
export async function inDatabase<T>(
  url: string,
  mayMake: boolean,
  clock: Clock,
  work: (accounts: OperatorAccounts) => Promise<T>,
): Promise<T> {
  const maker = mayMake ? systemRandom.uuid() : undefined;
  // Keeps the process alive while it waits for another one to create the tables.
  const timers = awakeTimers;
  try {
    return await onDatabase(url, maker, { clock, timers }, async (database) => {
      // The commands may create keys for every organization, even the one that is valid with play money only.
      const accounts = new PostgresAccounts(true, { clock, timers, random: systemRandom, database, onFailure() {} });
      try {
        return await work(over(accounts));
      } finally {
        await accounts.close();
      }
    });
  } catch (failure) {
    throw commandErrorOf(failure, StateError);
  }
}
