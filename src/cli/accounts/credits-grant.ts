/** `credits grant`: gives onboarding credits, or sets the amount of a subscription (siblings §3). */
import type { GrantDraft } from '../../accounts/accounts.ts';
import { GRANT_KINDS, type GrantKind } from '../../accounts/balance.ts';
import { AMOUNT_MAX } from '../../accounts/limits.ts';
import { grouped } from '../../base/grouped.ts';
import { command, EXIT_OK, UsageError } from '../command.ts';
import {
  ACCOUNT_OPTIONS,
  EXPIRES_OPTION,
  expiryOf,
  jsonLine,
  ORGANIZATION_OPTION,
  organizationOf,
  PLACE_NOTE,
  withAccounts,
} from './options.ts';

/** @throws UsageError */
function draftOf(org: string, kind: GrantKind, amount: number, expires: string | undefined, nowMs: number): GrantDraft {
  if (kind === 'subscription' && expires !== undefined) {
    throw new UsageError('--expires does not go with --kind subscription, which --amount 0 ends');
  }
  if (kind === 'onboarding' && amount === 0) throw new UsageError('--amount must be at least 1 for onboarding credits');
  return { organization: organizationOf(org), kind, amount, expiresAtMs: expiryOf(expires, nowMs) };
}

export const grantCredits = command({
  options: {
    org: { ...ORGANIZATION_OPTION, required: true },
    kind: {
      type: 'text',
      value: 'KIND',
      choices: GRANT_KINDS,
      help: 'subscription is renewed every month, onboarding is given once',
      required: true,
    },
    amount: {
      type: 'integer',
      value: 'N',
      min: 0,
      max: AMOUNT_MAX,
      help: 'whole credits; 0 ends a subscription',
      required: true,
    },
    expires: { ...EXPIRES_OPTION, help: `when onboarding credits lapse: ${EXPIRES_OPTION.help}` },
    ...ACCOUNT_OPTIONS,
  },
  notes: [
    'The organization is made with its first grant. It has one subscription: granting it again sets its amount, with the charges of this month taken off.',
    PLACE_NOTE,
  ],
  async run({ options }, io) {
    const { kind } = options;
    const draft = draftOf(options.org, kind, options.amount, options.expires, io.clock.nowMs());
    const granted = await withAccounts(options, io, (accounts) => accounts.grant(draft), { mayMake: true });
    if (options.json) io.stdout.write(jsonLine(granted));
    else {
      const often = kind === 'subscription' ? 'credits a month' : 'onboarding credits';
      const rest = kind === 'subscription' ? `, ${grouped(granted.remaining)} left of this month's` : '';
      const end = granted.expires_at === null ? '' : `, until ${granted.expires_at}`;
      io.stderr.write(`${granted.organization} has ${grouped(granted.amount)} ${often}${rest}${end}\n`);
    }
    return EXIT_OK;
  },
});
