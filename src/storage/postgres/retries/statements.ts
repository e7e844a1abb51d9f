/** The statements of retry jobs. Each may be repeated. */
import { MINUTE_MS } from '../../../base/durations.ts';
import { chargeText, PURCHASE_FIRST } from '../accounts/statements.ts';
import { latestMs, passedMs } from '../both-clocks.ts';
import { SKEW_MS_MAX } from '../clock-skew.ts';
import { ownerIsStillDead } from '../owners.ts';

/** No request holds an idempotency key longer than this. */
const KEY_CLAIM_MS = 2 * MINUTE_MS;

const COLUMNS = 'id, customer, key_digest, next_ms, state, secrets, result_body, holder, hold, version, change_id';

/** Adds to an organization's month; the counts are the parameters from `first` on. */
const usage = (first: number, from: string): string => `
  INSERT INTO paygrade.retry_usage AS u (organization, month_ms, created, attempts, delivered)
  SELECT $${first}::text, $${first + 1}::bigint, $${first + 2}::bigint, $${first + 3}::bigint, $${first + 4}::bigint FROM ${from}
  WHERE $${first}::text IS NOT NULL
  ON CONFLICT (organization, month_ms) DO UPDATE SET created = u.created + excluded.created,
    attempts = u.attempts + excluded.attempts, delivered = u.delivered + excluded.delivered`;

/** $1 id, $2 customer, $3 digest of the key, $4 next step, $5 state, $6 secrets, $7 to $11 usage. */
export const CREATE = {
  name: 'create-retry',
  text: `
    WITH made AS (
      INSERT INTO paygrade.retries (id, customer, key_digest, next_ms, state, secrets)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id
    ),
    used AS (${usage(7, 'made')})
    SELECT EXISTS (SELECT FROM made) AS is_made`,
} as const;

/**
 * The parts of a purchase that create a job if `debit` returns a row. From parameter `first` on: id, customer, digest of the
 * key, next step, state, secrets, and the five of the usage. If the job exists already, the charge is refused too.
 */
const boughtParts = (first: number): string => `
    made AS (
      INSERT INTO paygrade.retries (id, customer, key_digest, next_ms, state, secrets)
      SELECT $${first}::text, $${first + 1}::text, $${first + 2}::text, $${first + 3}::bigint, $${first + 4}::text, $${first + 5}::bytea
      FROM debit RETURNING id
    ),
    used AS (${usage(first + 6, 'made')})`;

export const BUY = { name: 'charge-and-create-retry', text: chargeText(boughtParts(PURCHASE_FIRST)) } as const;

/** $1 id. */
export const FIND = { name: 'find-retry', text: `SELECT ${COLUMNS} FROM paygrade.retries WHERE id = $1` } as const;

/** $1 digest of an idempotency key. */
export const FIND_BY_KEY = {
  name: 'find-retry-by-key',
  text: `SELECT ${COLUMNS} FROM paygrade.retries WHERE key_digest = $1`,
} as const;

/**
 * $1 id, $2 version on which the change is based, $3 hold, or null for a change not by the holder, $4 id of the change,
 * $5 next step, $6 state, $7 whether $8 secrets are given, $9 whether a $10 body is given, $11 whether the holder must
 * stop, $12 to $16 usage.
 */
export const CHANGE = {
  name: 'change-retry',
  text: `
    WITH changed AS (
      UPDATE paygrade.retries SET version = version + 1, change_id = $4, next_ms = $5, state = $6,
        secrets = CASE WHEN $7::boolean THEN $8::bytea ELSE secrets END,
        result_body = CASE WHEN $9::boolean THEN $10::bytea ELSE result_body END,
        is_abandoned = is_abandoned OR ($11::boolean AND holder IS NOT NULL)
      WHERE id = $1 AND version = $2::bigint AND ($3::text IS NULL OR hold = $3) RETURNING id
    ),
    used AS (${usage(12, 'changed')})
    SELECT EXISTS (SELECT FROM changed) OR EXISTS (SELECT FROM paygrade.retries WHERE id = $1 AND change_id = $4) AS is_changed`,
} as const;

/**
 * Takes due jobs, judged by the database's clock too: the process's clock may have been set ahead since the last comparison. $1
 * now, $2 most jobs, $3 most bytes, $4 customers to skip, $5 holder, $6 hold. Returns the jobs in the order of their times,
 * then one row without a job: when the next is due, and which jobs of the holder another process has ended.
 */
export const TAKE = {
  name: 'take-retries',
  text: `
    WITH due AS (
      SELECT id, next_ms, coalesce(octet_length(secrets), 0) AS byte_count,
        coalesce(octet_length(secrets), 0) + coalesce(octet_length(result_body), 0) AS read_count
      FROM paygrade.retries
      WHERE holder IS NULL AND next_ms <= least($1::bigint, paygrade.now_ms() + ${SKEW_MS_MAX})
        AND NOT (customer = ANY ($4::text[]))
      ORDER BY next_ms LIMIT $2::integer FOR UPDATE SKIP LOCKED
    ),
    fitting AS (
      SELECT id, byte_count, sum(read_count) OVER sorted AS total, row_number() OVER sorted AS place
      FROM due WINDOW sorted AS (ORDER BY next_ms, id)
    ),
    taken AS (
      UPDATE paygrade.retries r SET holder = $5, hold = $6, is_abandoned = false FROM fitting f
      WHERE r.id = f.id AND (f.place = 1 OR f.total <= $3::bigint) RETURNING r.id, r.customer, r.next_ms, f.byte_count
    ),
    held AS (
      SELECT id, customer, next_ms, coalesce(octet_length(secrets), 0) FROM paygrade.retries WHERE holder = $5 AND hold = $6
    )
    SELECT id, customer, next_ms, byte_count::integer, false AS is_full, NULL::bigint AS after_ms, NULL::text[] AS abandoned
    FROM (SELECT * FROM taken UNION ALL SELECT * FROM held) AS jobs
    UNION ALL
    SELECT NULL, NULL, NULL, NULL,
      (SELECT count(*) FROM due) >= $2::integer OR (SELECT count(*) FROM due) > (SELECT count(*) FROM taken),
      (SELECT min(next_ms) FROM paygrade.retries WHERE holder IS NULL AND next_ms > $1::bigint),
      array(SELECT id FROM paygrade.retries WHERE holder = $5 AND is_abandoned)`,
} as const;

/** $1 holder, $2 jobs that it knows. Frees the others, which a statement took whose answer was lost. */
export const FREE_STRAYS = {
  name: 'free-stray-retries',
  text: `
    UPDATE paygrade.retries r SET holder = NULL, hold = NULL
    WHERE holder = $1 AND NOT EXISTS (SELECT FROM unnest($2::text[]) AS known (id) WHERE known.id = r.id)`,
} as const;

/** Frees the jobs that dead processes held. */
export const FREE_DEAD = {
  name: 'free-retries-of-the-dead',
  text: `
    UPDATE paygrade.retries SET holder = NULL, hold = NULL WHERE holder IS NOT NULL AND ${ownerIsStillDead('holder')}`,
} as const;

/** $1 id, $2 hold. Returns when the next step is due, whether or not the job had that hold. */
export const RELEASE = {
  name: 'release-retry',
  text: `
    WITH released AS (
      UPDATE paygrade.retries SET holder = NULL, hold = NULL WHERE id = $1 AND hold = $2
    )
    SELECT next_ms FROM paygrade.retries WHERE id = $1`,
} as const;

/** $1 id. */
export const REMOVE = { name: 'remove-retry', text: 'DELETE FROM paygrade.retries WHERE id = $1' } as const;

/** $1 organization, $2 month. */
export const USAGE = {
  name: 'usage-of-retries',
  text: 'SELECT created, attempts, delivered FROM paygrade.retry_usage WHERE organization = $1 AND month_ms = $2',
} as const;

/**
 * $1 digest of an idempotency key, $2 owner of the claim: process, blank, request; $3 the process's time, because the database's
 * clock may be wrong. Returns a row if this claims it.
 */
export const CLAIM_KEY = {
  name: 'claim-retry-key',
  text: `
    INSERT INTO paygrade.retry_claims AS c (key_digest, owner, until_ms) VALUES ($1, $2, ${latestMs('$3')} + ${KEY_CLAIM_MS})
    ON CONFLICT (key_digest) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
    WHERE c.owner = excluded.owner OR c.until_ms <= ${passedMs('$3')} RETURNING owner`,
} as const;

/** Frees idempotency keys whose requests were under way in dead processes. */
export const FREE_DEAD_KEYS = {
  name: 'free-retry-keys-of-the-dead',
  text: `DELETE FROM paygrade.retry_claims WHERE ${ownerIsStillDead("split_part(owner, ' ', 1)")}`,
} as const;

/** $1 digest, $2 owner of the claim. */
export const RELEASE_KEY = {
  name: 'release-retry-key',
  text: 'DELETE FROM paygrade.retry_claims WHERE key_digest = $1 AND owner = $2',
} as const;
