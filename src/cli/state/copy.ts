/** `state copy`: moves a stopped box into an empty database (siblings §9). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { awakeTimers } from '../../adapters/process/system-timers.ts';
import { grouped } from '../../base/grouped.ts';
import { parseDatabaseUrl } from '../../storage/postgres/address.ts';
import { copyState, FolderError } from '../../storage/postgres/copy/copy-state.ts';
import { StateError } from '../../storage/state-error.ts';
import { STATE_KEY_FILE } from '../../storage/state-key.ts';
import { CommandError, command, EXIT_OK, UsageError } from '../command.ts';

/** @throws UsageError that names the option or variable, without the address */
function checkUrl(url: string, name: string): void {
  try {
    parseDatabaseUrl(url, name);
  } catch (failure) {
    throw failure instanceof StateError ? new UsageError(failure.message) : failure;
  }
}

export const copyStateCommand = command({
  options: {
    from: { type: 'text', value: 'DIR', required: true, help: 'folder of the state (STATE_DIR of that server)' },
    to: { type: 'text', value: 'URL', help: 'address of the database (default DATABASE_URL)' },
    json: { type: 'flag', help: 'the number of rows by table as one JSON object' },
  },
  notes: [
    'Everything that lasts goes in one transaction. The folder is marked as moved and starts no server again without STATE_RESET.',
    'Other users of this machine can read --to with its password, but not DATABASE_URL.',
  ],
  async run({ options }, { env, clock, stdout, stderr }) {
    const url = options.to ?? env.DATABASE_URL;
    if (url === undefined || url === '') throw new UsageError('name the database with --to or DATABASE_URL');
    const name = options.to === undefined ? 'DATABASE_URL' : '--to';
    checkUrl(url, name);
    const copied = await copyState(options.from, url, { clock, timers: awakeTimers }).catch((failure: unknown) => {
      if (!(failure instanceof StateError)) throw failure;
      throw new CommandError(`${failure instanceof FolderError ? '--from' : name}: ${failure.message}`);
    });
    if (options.json) {
      stdout.write(`${JSON.stringify(copied)}\n`);
      return EXIT_OK;
    }
    for (const [table, count] of Object.entries(copied)) if (count > 0) stderr.write(`${table}: ${grouped(count)}\n`);
    const keyFile = join(options.from, STATE_KEY_FILE);
    const key = existsSync(keyFile) ? `STATE_KEY (its value is in ${keyFile})` : 'the same STATE_KEY as before';
    stderr.write(`copied; start servers with DATABASE_URL and ${key}\n`);
    return EXIT_OK;
  },
});
