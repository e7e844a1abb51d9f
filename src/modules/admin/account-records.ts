/** Keys, grants and organizations as the operator's routes and commands write them (siblings §3). */
import * as v from 'valibot';
import type { GrantDraft, KeyRecord, OrganizationCredits } from '../../accounts/accounts.ts';
import { GRANT_KINDS } from '../../accounts/balance.ts';
import { KEY_FORM, KEY_ID_FORM } from '../../accounts/key.ts';
import { ORGANIZATION_NAME_FORM } from '../../accounts/organization.ts';
import { SCOPES } from '../../accounts/scopes.ts';
import { isoTime, isoTimeOrNull } from '../../base/iso-time.ts';
import { count, dateTime } from '../answer-values.ts';

const keyId = v.pipe(v.string(), v.regex(KEY_ID_FORM));
const name = v.pipe(v.string(), v.regex(ORGANIZATION_NAME_FORM));
const timeOrNever = v.nullable(dateTime);
const scopes = v.array(v.picklist(SCOPES));

/** A new key: the only answer that holds a key's text. */
export const createdKey = v.strictObject({
  id: keyId,
  key: v.pipe(v.string(), v.regex(KEY_FORM)),
  organization: name,
  scopes,
  created_at: dateTime,
  expires_at: timeOrNever,
});

const keyRecord = v.strictObject({
  id: keyId,
  organization: name,
  scopes,
  created_at: dateTime,
  expires_at: timeOrNever,
  last_used_at: timeOrNever,
  revoked_at: timeOrNever,
});

export const keyList = v.strictObject({ keys: v.array(keyRecord) });

export const revokedKey = v.strictObject({ id: keyId, revoked: v.literal(true) });

export const grantRecord = v.strictObject({
  organization: name,
  kind: v.picklist(GRANT_KINDS),
  amount: count,
  remaining: count,
  expires_at: timeOrNever,
});

export const organizationRecord = v.strictObject({
  organization: name,
  remaining: count,
  grants: v.array(
    v.strictObject({
      kind: v.picklist(GRANT_KINDS),
      amount: count,
      remaining: count,
      expires_at: timeOrNever,
      renews_at: timeOrNever,
    }),
  ),
});

export type CreatedKey = v.InferOutput<typeof createdKey>;
export type ListedKey = v.InferOutput<typeof keyRecord>;
export type GrantRecord = v.InferOutput<typeof grantRecord>;
export type OrganizationRecord = v.InferOutput<typeof organizationRecord>;

export const createdKeyOf = (key: KeyRecord, text: string): CreatedKey => ({
  id: key.id,
  key: text,
  organization: key.organization,
  scopes: [...key.scopes],
  created_at: isoTime(key.createdAtMs),
  expires_at: isoTimeOrNull(key.expiresAtMs),
});

export const listedKeyOf = (key: KeyRecord): ListedKey => ({
  id: key.id,
  organization: key.organization,
  scopes: [...key.scopes],
  created_at: isoTime(key.createdAtMs),
  expires_at: isoTimeOrNull(key.expiresAtMs),
  last_used_at: isoTimeOrNull(key.lastUsedAtMs),
  revoked_at: isoTimeOrNull(key.revokedAtMs),
});

export const grantRecordOf = (
  { organization, kind, amount, expiresAtMs }: GrantDraft,
  remaining: number,
): GrantRecord => ({ organization, kind, amount, remaining, expires_at: isoTimeOrNull(expiresAtMs) });

export const organizationRecordOf = ({ organization, remaining, grants }: OrganizationCredits): OrganizationRecord => ({
  organization,
  remaining,
  grants: grants.map((grant) => ({
    kind: grant.kind,
    amount: grant.amount,
    remaining: grant.remaining,
    expires_at: isoTimeOrNull(grant.expiresAtMs),
    renews_at: isoTimeOrNull(grant.renewsAtMs),
  })),
});
