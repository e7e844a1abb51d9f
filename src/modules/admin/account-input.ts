/**
 * An operator's input about keys and credits (siblings §3). The commands check their options by the same rules before they
 * change a state folder, so routes and commands refuse the same values with the same messages.
 */
import * as v from 'valibot';
import type { GrantDraft, KeyDraft } from '../../accounts/accounts.ts';
import { GRANT_KINDS } from '../../accounts/balance.ts';
import { AMOUNT_MAX } from '../../accounts/limits.ts';
import { isOrganizationName, NAME_RULE } from '../../accounts/organization.ts';
import { SCOPES } from '../../accounts/scopes.ts';
import { parseDateTime } from '../../base/date-time.ts';
import { INVALID_BODY, type Refusal, refuse } from '../../http/errors.ts';
import { oneOf, parsed, rule } from '../parameter-rules.ts';

export const organizationName = v.pipe(v.string(), v.check(isOrganizationName), rule({ rule: NAME_RULE }));

/** Milliseconds since 1970; a bare date is midnight UTC. */
const expiresAt = v.optional(
  v.nullable(v.pipe(v.string(), parsed(parseDateTime), rule({ rule: 'an RFC 3339 date-time, a date, or null' }))),
  null,
);

export const keyBody = v.strictObject({
  organization: organizationName,
  scopes: v.pipe(
    v.array(oneOf(SCOPES)),
    v.minLength(1),
    v.check((scopes) => new Set(scopes).size === scopes.length),
    rule({ rule: `a list of one scope at least and none twice, each one of ${SCOPES.join(', ')}` }),
  ),
  expires_at: expiresAt,
});

export const grantBody = v.strictObject({
  organization: organizationName,
  kind: oneOf(GRANT_KINDS),
  amount: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.maxValue(AMOUNT_MAX),
    rule({ rule: `a whole number of credits from 1 to ${AMOUNT_MAX}, or 0 to end a subscription` }),
  ),
  expires_at: expiresAt,
});

type InvalidBody = Refusal<'INVALID_BODY'>;

const PAST: InvalidBody = refuse(INVALID_BODY, '`expires_at` must be a time to come');

export function keyDraftOf(body: v.InferOutput<typeof keyBody>, nowMs: number): KeyDraft | InvalidBody {
  const { organization, scopes, expires_at: expiresAtMs } = body;
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return PAST;
  return { organization, scopes, expiresAtMs };
}

export function grantDraftOf(body: v.InferOutput<typeof grantBody>, nowMs: number): GrantDraft | InvalidBody {
  const { organization, kind, amount, expires_at: expiresAtMs } = body;
  if (kind === 'subscription' && expiresAtMs !== null) {
    return refuse(INVALID_BODY, '`expires_at` does not go with a subscription, which an amount of 0 ends');
  }
  if (kind === 'onboarding' && amount === 0) {
    return refuse(INVALID_BODY, '`amount` must be at least 1 for onboarding credits');
  }
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return PAST;
  return { organization, kind, amount, expiresAtMs };
}
