/** `keys list`: the keys of all organizations or of one, without their texts (siblings §3). */
import type { ListedKey } from '../../modules/admin/account-records.ts';
import { command, EXIT_OK } from '../command.ts';
import { ACCOUNT_OPTIONS, jsonLine, ORGANIZATION_OPTION, organizationOf, PLACE_NOTE, withAccounts } from './options.ts';

function endOf({ expires_at, revoked_at }: ListedKey): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`;
  return expires_at === null ? 'does not expire' : `expires ${expires_at}`;
}

const lineOf = (key: ListedKey): string =>
  `${key.id}  ${key.organization}  ${key.scopes.join(',')}  created ${key.created_at}, ` +
  `${key.last_used_at === null ? 'not used' : `last used ${key.last_used_at}`}, ${endOf(key)}\n`;

export const listKeys = command({
  options: { org: ORGANIZATION_OPTION, ...ACCOUNT_OPTIONS },
  notes: ['In the order of their creation; revoked and expired ones too.', PLACE_NOTE],
  async run({ options }, io) {
    const organization = options.org === undefined ? undefined : organizationOf(options.org);
    const keys = await withAccounts(options, io, (accounts) => accounts.listKeys(organization));
    if (options.json) io.stdout.write(jsonLine({ keys }));
    else if (keys.length === 0) io.stderr.write('no keys\n');
    else for (const key of keys) io.stdout.write(lineOf(key));
    return EXIT_OK;
  },
});
