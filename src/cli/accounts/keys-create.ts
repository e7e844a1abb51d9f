/** `keys create`: makes a key and prints it, once (siblings §3). */
import { SCOPES } from '../../accounts/scopes.ts';
import { command, EXIT_OK } from '../command.ts';
import {
  ACCOUNT_OPTIONS,
  EXPIRES_OPTION,
  expiryOf,
  jsonLine,
  ORGANIZATION_OPTION,
  organizationOf,
  PLACE_NOTE,
  scopesOf,
  withAccounts,
} from './options.ts';

export const createKey = command({
  options: {
    org: { ...ORGANIZATION_OPTION, required: true },
    scopes: {
      type: 'text',
      value: 'SCOPES',
      help: `what it permits, separated by commas: ${SCOPES.join(', ')}`,
      required: true,
    },
    expires: EXPIRES_OPTION,
    ...ACCOUNT_OPTIONS,
  },
  notes: [
    'The organization is made with its first key. The key stands alone on stdout; only its digest is kept, so it cannot be shown again.',
    PLACE_NOTE,
  ],
  async run({ options }, io) {
    const draft = {
      organization: organizationOf(options.org),
      scopes: scopesOf(options.scopes),
      expiresAtMs: expiryOf(options.expires, io.clock.nowMs()),
    };
    const created = await withAccounts(options, io, (accounts) => accounts.createKey(draft), { mayMake: true });
    if (options.json) io.stdout.write(jsonLine(created));
    else {
      io.stdout.write(`${created.key}\n`);
      const end = created.expires_at === null ? 'does not expire' : `expires ${created.expires_at}`;
      io.stderr.write(`${created.id} of ${created.organization} for ${created.scopes.join(', ')}; ${end}\n`);
      io.stderr.write('The key above is shown only now: keep it where secrets are kept.\n');
    }
    return EXIT_OK;
  },
});
