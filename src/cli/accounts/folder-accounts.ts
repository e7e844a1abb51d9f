/** The accounts of a state folder that no server uses. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemTimers } from '../../adapters/process/system-timers.ts';
import type { Clock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { closedFolder } from '../../storage/folder-fault.ts';
import { MemoryAccounts } from '../../storage/memory/accounts.ts';
import { openSqliteState, STATE_FILE } from '../../storage/sqlite/state.ts';
import { StateError, StateHeldError } from '../../storage/state-error.ts';
import { CommandError, commandErrorOf } from '../command.ts';
import { type OperatorAccounts, over } from './operator-accounts.ts';

/**
 * Works on the accounts of a folder and closes it.
 * @param mayMake whether to create a folder that no server has used yet; otherwise that is an error
 * @throws CommandError one line
 */
export async function inFolder<T>(
  stateDir: string,
  mayMake: boolean,
  clock: Clock,
  work: (accounts: OperatorAccounts) => Promise<T>,
): Promise<T> {
  if (!mayMake && !existsSync(join(stateDir, STATE_FILE))) {
    const closed = closedFolder(stateDir, STATE_FILE);
    throw new CommandError(closed ?? `${stateDir} has no ${STATE_FILE}: no server and no command has used it`);
  }
  // Nothing here settles payments or removes sales, so those options have no effect.
  const options = { stateDir, sync: 'full', isPlay: false, mayReset: false, salesKeptMs: Infinity } as const;
  const timers = systemTimers;
  const state = await openSqliteState(options, { clock, timers, onStateFault: () => {} }).catch((failure: unknown) => {
    if (failure instanceof StateHeldError) {
      throw new CommandError(
        `${stateDir} is in use: if a server runs on it, ask that server with --url and ADMIN_TOKEN, or stop it first; if not, another command holds it for a moment, so try again`,
      );
    }
    throw commandErrorOf(failure, StateError);
  });
  try {
    const persisted = state.persistence.accounts;
    // The commands may create keys for every organization, even the one that is valid with play money only.
    const accounts = new MemoryAccounts({ clock, timers, random: systemRandom }, { isPlay: true, ...persisted });
    const damage = persisted?.loaded.damage;
    if (damage !== undefined) throw new CommandError(damage);
    return await work(over(accounts));
  } finally {
    await state.close();
  }
}
