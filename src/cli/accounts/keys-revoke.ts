/** `keys revoke`: ends a key for every request that begins after the answer (siblings §3). */
import { command, EXIT_OK } from '../command.ts';
import { ACCOUNT_OPTIONS, jsonLine, keyIdOf, PLACE_NOTE, withAccounts } from './options.ts';

export const revokeKey = command({
  arguments: [{ name: 'KEY_ID', help: 'id of the key, key_…, as `keys list` shows it', count: 'one' }],
  options: ACCOUNT_OPTIONS,
  notes: ['Revoking it again changes nothing.', PLACE_NOTE],
  async run({ options, arguments: [named] }, io) {
    const id = keyIdOf(named);
    await withAccounts(options, io, (accounts) => accounts.revokeKey(id));
    if (options.json) io.stdout.write(jsonLine({ id, revoked: true }));
    else io.stderr.write(`${id} is revoked\n`);
    return EXIT_OK;
  },
});
