/** `credits show`: the credits that an organization has left, by grant (siblings §3). */
import { grouped } from '../../base/grouped.ts';
import type { OrganizationRecord } from '../../modules/admin/account-records.ts';
import { command, EXIT_OK } from '../command.ts';
import { ACCOUNT_OPTIONS, jsonLine, ORGANIZATION_OPTION, organizationOf, PLACE_NOTE, withAccounts } from './options.ts';

function lineOf({ kind, amount, remaining, expires_at, renews_at }: OrganizationRecord['grants'][number]): string {
  const end =
    renews_at !== null ? `renewed ${renews_at}` : expires_at === null ? 'does not lapse' : `lapses ${expires_at}`;
  return `  ${kind.padEnd(12)}  ${grouped(remaining).padStart(15)} of ${grouped(amount)}, ${end}\n`;
}

export const showCredits = command({
  options: { org: { ...ORGANIZATION_OPTION, required: true }, ...ACCOUNT_OPTIONS },
  notes: ['Grants stand in the order in which charges take them: what lapses first.', PLACE_NOTE],
  async run({ options }, io) {
    const name = organizationOf(options.org);
    const found = await withAccounts(options, io, (accounts) => accounts.organization(name));
    if (options.json) io.stdout.write(jsonLine(found));
    else {
      io.stdout.write(`${found.organization}: ${grouped(found.remaining)} credits left\n`);
      for (const grant of found.grants) io.stdout.write(lineOf(grant));
    }
    return EXIT_OK;
  },
});
