/**
 * The statements of accounts. Each may be repeated. Credits have lapsed, and a month has begun, only when the process's clock
 * says so too: either clock may be ahead, and a month that has begun never ends early.
 */
import { LAPSED_KEPT_MS } from '../../../accounts/limits.ts';
import { DAY_MS } from '../../../base/durations.ts';
import { passedMs } from '../both-clocks.ts';

/** A retry after a lost answer needs the entry only briefly; it is kept longer for an operator's questions. */
const ENTRIES_KEPT_MS = 40 * DAY_MS;

/** $1 digests, in order. */
export const AUTHENTICATE = {
  name: 'authenticate',
  text: `
    SELECT k.id, k.organization, k.scopes, paygrade.now_ms() AS now_ms
    FROM unnest($1::text[]) WITH ORDINALITY AS a (digest, place)
    LEFT JOIN paygrade.api_keys k ON k.digest = a.digest AND k.revoked_ms IS NULL
      AND (k.expires_ms IS NULL OR k.expires_ms > paygrade.now_ms())
    ORDER BY a.place`,
} as const;

/** $1 name, $2 id of an entry, $3 the process's time. One row for each grant that has not lapsed, or one row without a grant. */
export const READ = {
  name: 'read-credits',
  text: `
    SELECT o.version, o.month_ms, o.charged, o.subscription, o.subscription_charged, ${passedMs('$3')} AS now_ms,
      g.serial, g.amount, g.remaining, g.expires_ms,
      EXISTS (SELECT FROM paygrade.credit_entries e WHERE e.id = $2) AS is_charged
    FROM paygrade.organizations o
    LEFT JOIN paygrade.onboarding_grants g ON g.organization = o.name
      AND (g.expires_ms IS NULL OR g.expires_ms > ${passedMs('$3')})
    WHERE o.name = $1`,
} as const;

/**
 * $1 name, $2 version and $3 end of the state that decided, $4 month, $5 amount, $6 taken from the subscription, $7
 * serials of grants and $8 what is taken from each, $9 id of the entry, $10 the process's time. `debit` runs first; everything
 * else depends on the rows it returns.
 * @param purchase further common table expressions that also select from `debit`; parameters from {@link PURCHASE_FIRST} on
 */
export const chargeText = (purchase = ''): string => `
    WITH debit AS (
      UPDATE paygrade.organizations SET version = version + 1, month_ms = $4::bigint,
        charged = CASE month_ms WHEN $4::bigint THEN charged ELSE 0 END + $5::bigint,
        subscription_charged = CASE month_ms WHEN $4::bigint THEN subscription_charged ELSE 0 END + $6::bigint
      WHERE name = $1 AND version = $2::bigint AND ${passedMs('$10')} < $3::bigint RETURNING name
    ),
    taken AS (
      UPDATE paygrade.onboarding_grants g SET remaining = g.remaining - part.amount
      FROM unnest($7::bigint[], $8::bigint[]) AS part (serial, amount), debit WHERE g.serial = part.serial
    ),
    entry AS (
      INSERT INTO paygrade.credit_entries (id, organization, amount, at_ms)
      SELECT $9::text, name, $5::bigint, paygrade.now_ms() FROM debit
    )${purchase === '' ? '' : `,${purchase}`}
    SELECT EXISTS (SELECT FROM debit) AS is_charged`;

/** A charge that buys no record. */
export const CHARGE = { name: 'charge-credits', text: chargeText() } as const;

/**
 * $1 name, $2 id of an entry, $3 month, $4 amount, $5 taken from the subscription, $6 serials of grants and $7 what was
 * taken from each. If the charge of this entry is on record, gives it back once and makes the entry negative. If not,
 * inserts the entry, so that a statement carried out late cannot charge.
 */
export const GIVE_BACK = {
  name: 'give-back-credits',
  text: `
    WITH entry AS (
      INSERT INTO paygrade.credit_entries AS e (id, organization, amount, at_ms) VALUES ($2, $1, 0, paygrade.now_ms())
      ON CONFLICT (id) DO UPDATE SET amount = -e.amount WHERE e.amount > 0 RETURNING e.amount
    ),
    credited AS (
      UPDATE paygrade.organizations SET version = version + 1,
        charged = charged - CASE month_ms WHEN $3::bigint THEN $4::bigint ELSE 0 END,
        subscription_charged = subscription_charged - CASE month_ms WHEN $3::bigint THEN $5::bigint ELSE 0 END
      FROM entry WHERE name = $1 AND entry.amount < 0
    )
    UPDATE paygrade.onboarding_grants g SET remaining = g.remaining + part.amount
    FROM unnest($6::bigint[], $7::bigint[]) AS part (serial, amount), entry
    WHERE g.serial = part.serial AND entry.amount < 0`,
} as const;

/** Number of the first parameter of a purchase. */
export const PURCHASE_FIRST = 11;

/** $1 name. The counts that are compared with the limits. */
export const COUNTS = {
  text: `
    SELECT EXISTS (SELECT FROM paygrade.organizations WHERE name = $1) AS is_known,
      (SELECT count(*) FROM paygrade.organizations) AS organizations, (SELECT count(*) FROM paygrade.api_keys) AS keys,
      (SELECT count(*) FROM paygrade.onboarding_grants WHERE organization = $1) AS grants`,
} as const;

/** An organization that a restore has lost gets no version again that it had (identity.ts). */
const FIRST_VERSION = 'paygrade.now_ms() * 1000';

/** $1 name: creates the organization if it is missing. */
const ORGANIZATION = `INSERT INTO paygrade.organizations AS o (name, version) VALUES ($1, ${FIRST_VERSION})
  ON CONFLICT (name) DO UPDATE SET version = o.version + 1 RETURNING name`;

/** $1 name, $2 id, $3 digest, $4 scopes, $5 expiry. */
export const CREATE_KEY = {
  text: `
    WITH organization AS (${ORGANIZATION}), made AS (
      INSERT INTO paygrade.api_keys (id, digest, organization, scopes, created_ms, expires_ms)
      SELECT $2, $3, name, $4, paygrade.now_ms(), $5 FROM organization ON CONFLICT (id) DO NOTHING RETURNING created_ms
    )
    SELECT created_ms FROM made UNION ALL SELECT created_ms FROM paygrade.api_keys WHERE id = $2`,
} as const;

/** $1 name, $2 id, $3 amount, $4 expiry. */
export const GRANT = {
  text: `
    WITH organization AS (${ORGANIZATION})
    INSERT INTO paygrade.onboarding_grants (id, organization, amount, remaining, expires_ms)
    SELECT $2, name, $3, $3, $4 FROM organization ON CONFLICT (id) DO NOTHING`,
} as const;

/** $1 name, $2 amount. */
export const SUBSCRIBE = {
  text: `
    INSERT INTO paygrade.organizations AS o (name, version, subscription) VALUES ($1, ${FIRST_VERSION}, $2)
    ON CONFLICT (name) DO UPDATE SET subscription = excluded.subscription, version = o.version + 1`,
} as const;

/** $1 id. */
export const REVOKE = {
  text: `UPDATE paygrade.api_keys SET revoked_ms = coalesce(revoked_ms, paygrade.now_ms()) WHERE id = $1 RETURNING id`,
} as const;

/** $1 name; null = of all. In the order of their creation. */
export const LIST_KEYS = {
  text: `
    SELECT id, organization, scopes, created_ms, expires_ms, used_ms, revoked_ms FROM paygrade.api_keys
    WHERE $1::text IS NULL OR organization = $1 ORDER BY serial`,
} as const;

export const HAS_ORGANIZATIONS = { text: 'SELECT EXISTS (SELECT FROM paygrade.organizations) AS has_any' } as const;

/** $1 ids of keys, sorted; $2 minutes of their last use. */
export const NOTE_USES = {
  name: 'note-uses',
  text: `
    WITH held AS (
      SELECT k.id FROM paygrade.api_keys k WHERE k.id = ANY ($1::text[]) ORDER BY k.id FOR UPDATE
    )
    UPDATE paygrade.api_keys k SET used_ms = use.at_ms FROM unnest($1::text[], $2::bigint[]) AS use (id, at_ms), held
    WHERE k.id = use.id AND held.id = k.id AND (k.used_ms IS NULL OR k.used_ms < use.at_ms)`,
} as const;

/** $1 the process's time. Delete grants that lapsed long ago, and old entries. */
export const FORGET = [
  { text: `DELETE FROM paygrade.onboarding_grants WHERE expires_ms <= ${passedMs('$1')} - ${LAPSED_KEPT_MS}` },
  { text: `DELETE FROM paygrade.credit_entries WHERE at_ms <= ${passedMs('$1')} - ${ENTRIES_KEPT_MS}` },
] as const;
