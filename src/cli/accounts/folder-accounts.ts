/** The accounts of a state folder that no server uses. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Accounts, NotChanged } from '../../accounts/accounts.ts';
import { systemTimers } from '../../adapters/process/system-timers.ts';
import type { Clock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createdKeyOf, grantRecordOf, listedKeyOf, organizationRecordOf } from '../../modules/admin/account-records.ts';
import { MemoryAccounts } from '../../storage/memory/accounts.ts';
import { openSqliteState, STATE_FILE } from '../../storage/sqlite/state.ts';
import { StateError, StateHeldError } from '../../storage/state-error.ts';
import { CommandError } from '../command.ts';
import type { OperatorAccounts } from './operator-accounts.ts';

/** @throws CommandError always */
function failed(why: NotChanged): never {
  switch (why.kind) {
    case 'unavailable':
      throw new CommandError(why.detail);
    case 'full':
      throw new CommandError(
        'there are as many keys, organizations, or grants of one organization as a state may hold',
      );
    default:
      throw new Error(`a folder refuses nothing as ${why.kind}`);
  }
}

const over = (accounts: Accounts): OperatorAccounts => ({
  async createKey(draft) {
    const created = await accounts.createKey(draft);
    return created.kind === 'created' ? createdKeyOf(created.key, created.text) : failed(created);
  },
  async listKeys(organization) {
    return (await accounts.listKeys(organization)).map(listedKeyOf);
  },
  async revokeKey(id) {
    const revocation = await accounts.revokeKey(id);
    if (revocation.kind === 'unknown') throw new CommandError('there is no such key');
    if (revocation.kind !== 'revoked') failed(revocation);
  },
  async grant(draft) {
    const granted = await accounts.grant(draft);
    return granted.kind === 'granted' ? grantRecordOf(draft, granted.remaining) : failed(granted);
  },
  async organization(name) {
    const found = await accounts.organization(name);
    if (found === undefined) throw new CommandError(`there is no organization ${name}`);
    return organizationRecordOf(found);
  },
});

/**
 * Works on the accounts of a folder and closes it.
 * @param mayMake a folder that no server has used yet is made; otherwise it is an error
 * @throws CommandError one line
 */
export async function inFolder<T>(
  stateDir: string,
  mayMake: boolean,
  clock: Clock,
  work: (accounts: OperatorAccounts) => Promise<T>,
): Promise<T> {
  if (!mayMake && !existsSync(join(stateDir, STATE_FILE))) {
    throw new CommandError(`${stateDir} has no ${STATE_FILE}: no server and no command has used it`);
  }
  // Nothing here settles payments or removes sales, so those options have no effect.
  const options = { stateDir, sync: 'full', isPlay: false, mayReset: false, salesKeptMs: Infinity } as const;
  const timers = systemTimers;
  const state = await openSqliteState(options, { clock, timers, onFault: () => {} }).catch((failure: unknown) => {
    if (failure instanceof StateHeldError) {
      throw new CommandError(`a server runs on ${stateDir}: ask it with --url and ADMIN_TOKEN, or stop it first`);
    }
    throw failure instanceof StateError ? new CommandError(failure.message) : failure;
  });
  try {
    const persisted = state.persistence.accounts;
    // The commands may make keys of every organization, also of the one that holds with play money only.
    const accounts = new MemoryAccounts({ clock, timers, random: systemRandom }, { isPlay: true, ...persisted });
    const damage = accounts.unreadable();
    if (damage !== undefined) throw new CommandError(damage);
    return await work(over(accounts));
  } finally {
    await state.close();
  }
}
