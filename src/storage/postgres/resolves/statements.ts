/**
 * The statements of resolves. Each may be repeated. The hour of a resolve is over when it is over by the process's clock too,
 * because either clock may be ahead.
 */
import { KEPT_MS, TOMBSTONE_MS } from '../../../resolve/limits.ts';
import { passedMs } from '../both-clocks.ts';
import { SKEW_MS_MAX } from '../clock-skew.ts';
import { ownerIsStillDead } from '../owners.ts';

/** Most resolves that one sweep ends. */
export const SWEEP_COUNT_MAX = 512;

/** $1 id, $2 digest, $3 the process's time, whose hour would be over at once if that clock were behind, $4 question, $5 holder. */
export const CREATE = {
  name: 'create-resolve',
  text: `
    INSERT INTO paygrade.resolves (id, token_digest, created_ms, status, question, holder)
    VALUES ($1, $2, greatest($3, paygrade.now_ms() - ${SKEW_MS_MAX}), 'pending', $4, $5) ON CONFLICT (id) DO NOTHING RETURNING id`,
} as const;

/** $1 id, $2 status, $3 outcome, $4 its bytes, $5 the process's time. The first outcome stays. */
export const FINISH = {
  name: 'finish-resolve',
  text: `
    UPDATE paygrade.resolves SET status = $2, outcome = $3, outcome_bytes = $4, question = NULL, holder = NULL, hold = NULL
    WHERE id = $1 AND status = 'pending' AND created_ms > ${passedMs('$5')} - ${KEPT_MS} RETURNING id`,
} as const;

/** $1 id, $2 the process's time. */
export const FIND = {
  name: 'find-resolve',
  text: `
    SELECT token_digest, created_ms, status, ${passedMs('$2')} - created_ms AS age_ms FROM paygrade.resolves WHERE id = $1`,
} as const;

/** $1 id, $2 the process's time. */
export const OUTCOME = {
  name: 'read-outcome',
  text: `
    SELECT outcome FROM paygrade.resolves
    WHERE id = $1 AND outcome IS NOT NULL AND created_ms > ${passedMs('$2')} - ${KEPT_MS}`,
} as const;

/**
 * $1 holder, $2 hold, $3 the process's time, $4 how many, $5 ids that this hold has given already. Takes the pending resolves of
 * dead processes, after those that an earlier statement of this hold took whose answer was lost.
 */
export const TAKE_DEAD = {
  name: 'take-resolves-of-the-dead',
  text: `
    WITH unanswered AS (
      SELECT id, token_digest, created_ms, question FROM paygrade.resolves
      WHERE holder = $1 AND hold = $2 AND status = 'pending' AND id <> ALL ($5::text[])
    ),
    taken AS (
      UPDATE paygrade.resolves SET holder = $1, hold = $2 WHERE id IN (
        SELECT id FROM paygrade.resolves WHERE status = 'pending' AND created_ms > ${passedMs('$3')} - ${KEPT_MS}
          AND ${ownerIsStillDead('holder')}
        ORDER BY created_ms LIMIT greatest(0, $4::bigint - (SELECT count(*) FROM unanswered)) FOR UPDATE SKIP LOCKED
      ) RETURNING id, token_digest, created_ms, question
    )
    SELECT * FROM unanswered UNION ALL SELECT * FROM taken ORDER BY created_ms LIMIT $4::bigint`,
} as const;

/** $1 holder, $2 ids that it works on. Frees its other pending resolves, which look like those of a dead process then. */
export const FREE_STRAYS = {
  name: 'free-stray-resolves',
  text: `
    UPDATE paygrade.resolves SET holder = NULL, hold = NULL
    WHERE holder = $1 AND status = 'pending' AND id <> ALL ($2::text[])`,
} as const;

/** $1 the process's time. Ends resolves whose hour is over, with a row for each; {@link SWEEP_COUNT_MAX}: more may be due. */
export const EXPIRE = {
  name: 'expire-resolves',
  text: `
    UPDATE paygrade.resolves SET status = 'expired', question = NULL, outcome = NULL, outcome_bytes = 0, holder = NULL, hold = NULL
    WHERE id IN (
      SELECT id FROM paygrade.resolves WHERE status <> 'expired'
        AND created_ms <= ${passedMs('$1')} - ${KEPT_MS}
      ORDER BY created_ms LIMIT ${SWEEP_COUNT_MAX} FOR UPDATE SKIP LOCKED
    ) RETURNING id`,
} as const;

/** Deletes resolves created two hours ago. */
export const FORGET = {
  name: 'forget-resolves',
  text: `
    DELETE FROM paygrade.resolves
    WHERE status = 'expired' AND created_ms <= paygrade.now_ms() - ${KEPT_MS + TOMBSTONE_MS}`,
} as const;

export const COUNTS = {
  name: 'count-resolves',
  text: `
    SELECT count(*) FILTER (WHERE status <> 'expired') AS live, count(*) FILTER (WHERE status = 'expired') AS expired,
      coalesce(sum(outcome_bytes), 0)::bigint AS bytes FROM paygrade.resolves`,
} as const;
