/**
 * The statements of callbacks. Each may be repeated, and each locks rows of callbacks in the order of their ids before the row of
 * `callback_room`. `paygrade.now_ms()` is the database's clock, which alone decides expiry and windows.
 */
import { MINUTE_MS } from '../../../base/durations.ts';
import {
  CLAIM_BYTES,
  EVENT_COUNT_MAX,
  EVENT_PART_BYTES,
  INLINE_BYTES_MAX,
  LIFETIME_MS,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
  SWEEP_COUNT_MAX,
  TOMBSTONE_MS,
} from '../../../callback/limits.ts';
import { passedMs } from '../both-clocks.ts';

/** How long a claim lasts whose process died before the purchase ended. */
const CLAIM_MS = 5 * MINUTE_MS;

export const countOf = (bytes: number): number => Math.floor(bytes / CLAIM_BYTES);

/**
 * $1 ids, $2 tries of each, $3 names this group. After a lost answer the group is repeated and still counts once,
 * unless another group came in between: then too many tries are counted, never too few. The first `passed` tries pass;
 * `oldest_ms` is the pass that leaves the window first. A pass more than a window ahead was counted before the clock
 * was set back, and is dropped: it would refuse webhooks until the clock reaches that time again.
 */
export const ADMIT = {
  name: 'admit-webhooks',
  text: `
    WITH asked AS (SELECT * FROM unnest($1::text[], $2::integer[]) AS a (id, tries)),
    rated AS (
      INSERT INTO paygrade.callback_rates AS r (id, passes, asked, passed, last_ms, attempt)
      SELECT id, array_fill(paygrade.now_ms(), ARRAY[least(tries, ${RATE_COUNT_MAX})]), tries,
        least(tries, ${RATE_COUNT_MAX}), paygrade.now_ms(), $3 FROM asked
      ON CONFLICT (id) DO UPDATE SET (passes, asked, passed, last_ms, attempt) = (
        SELECT CASE WHEN r.attempt = excluded.attempt THEN r.passes
            ELSE kept || array_fill(paygrade.now_ms(), ARRAY[least(excluded.asked, ${RATE_COUNT_MAX} - cardinality(kept))]) END,
          excluded.asked,
          CASE WHEN r.attempt = excluded.attempt THEN r.passed ELSE least(excluded.asked, ${RATE_COUNT_MAX} - cardinality(kept)) END,
          paygrade.now_ms(), excluded.attempt
        FROM (
          SELECT coalesce(array_agg(pass ORDER BY pass), '{}') AS kept FROM unnest(r.passes) AS p (pass)
          WHERE pass > paygrade.now_ms() - ${RATE_WINDOW_MS} AND pass <= paygrade.now_ms() + ${RATE_WINDOW_MS}
        ) AS window_now
      )
      RETURNING id, passed, passes[1] AS oldest_ms
    )
    SELECT rated.id, rated.passed, rated.oldest_ms, c.expires_ms, c.event_count, paygrade.now_ms() AS now_ms
    FROM rated LEFT JOIN paygrade.callbacks c ON c.id = rated.id`,
} as const;

/** $1 ids. In their order. */
export const FIND = {
  name: 'find-callbacks',
  text: `
    SELECT c.token_digest, c.expires_ms, c.event_count, paygrade.now_ms() AS now_ms
    FROM unnest($1::text[]) WITH ORDINALITY AS a (id, place) LEFT JOIN paygrade.callbacks c ON c.id = a.id ORDER BY a.place`,
} as const;

/** $1 ids of claims, $2 most callbacks. Returns which of these claims are held, and the count claimed by all. */
export const CLAIM = {
  name: 'claim-callbacks',
  text: `
    WITH room AS (SELECT claimed FROM paygrade.callback_room WHERE id = 1 FOR UPDATE),
    wanted AS (SELECT a.id, row_number() OVER (ORDER BY a.place) AS place FROM unnest($1::text[]) WITH ORDINALITY AS a (id, place)
      WHERE NOT EXISTS (SELECT FROM paygrade.callback_claims k WHERE k.id = a.id)),
    made AS (
      INSERT INTO paygrade.callback_claims (id, until_ms)
      SELECT wanted.id, paygrade.now_ms() + ${CLAIM_MS} FROM wanted, room WHERE wanted.place <= $2::bigint - room.claimed
      RETURNING id
    ),
    counted AS (
      UPDATE paygrade.callback_room SET claimed = claimed + (SELECT count(*) FROM made)
      WHERE id = 1 AND EXISTS (SELECT FROM made)
    )
    SELECT array(SELECT id FROM made UNION SELECT id FROM paygrade.callback_claims WHERE id = ANY ($1::text[])) AS held,
      (SELECT claimed FROM room) + (SELECT count(*) FROM made) AS claimed`,
} as const;

/** $1 id of a claim. */
export const UNCLAIM = {
  name: 'give-back-claim',
  text: `
    WITH given AS (DELETE FROM paygrade.callback_claims WHERE id = $1 RETURNING id)
    UPDATE paygrade.callback_room SET claimed = claimed - 1 WHERE id = 1 AND EXISTS (SELECT FROM given) RETURNING claimed`,
} as const;

/** $1 id, $2 digest of the token, $3 id of the claim. No row: another transaction is creating the same callback. */
export const CREATE = {
  name: 'create-callback',
  text: `
    WITH used AS (DELETE FROM paygrade.callback_claims WHERE id = $3 RETURNING id),
    made AS (
      INSERT INTO paygrade.callbacks (id, token_digest, expires_ms) VALUES ($1, $2, paygrade.now_ms() + ${LIFETIME_MS})
      ON CONFLICT (id) DO NOTHING RETURNING id, token_digest, expires_ms
    ),
    counted AS (
      UPDATE paygrade.callback_room SET claimed = claimed + (SELECT count(*) FROM made) - (SELECT count(*) FROM used)
      WHERE id = 1 AND (SELECT count(*) FROM made) <> (SELECT count(*) FROM used)
    )
    SELECT token_digest, expires_ms, true AS is_new, paygrade.now_ms() AS now_ms FROM made
    UNION ALL
    SELECT token_digest, expires_ms, false, paygrade.now_ms() FROM paygrade.callbacks
    WHERE id = $1 AND NOT EXISTS (SELECT FROM made)`,
} as const;

/**
 * $1 ids of callbacks, each once and sorted; $2 ids of events; $3 rests of heads; $4 charsets, null for JSON; $5 where the body
 * begins in $7, from 1; $6 its bytes; $7 all bodies. A row for each callback that exists; `seq` null: not stored.
 */
export const APPEND = {
  name: 'append-events',
  text: `
    WITH given AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[])
        AS g (callback_id, id, head_rest, charset, start, size)
    ),
    held AS (
      SELECT id, expires_ms, event_count, last_event_id, last_received_s FROM paygrade.callbacks
      WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
    ),
    judged AS (
      SELECT g.*, h.expires_ms, h.event_count, h.last_received_s, CASE WHEN h.last_event_id = g.id THEN h.event_count
        ELSE (SELECT e.seq FROM paygrade.callback_events e WHERE e.callback_id = g.callback_id AND e.id = g.id) END AS stored_seq
      FROM given g JOIN held h ON h.id = g.callback_id
    ),
    fresh AS (
      SELECT *, event_count + 1 AS seq, greatest(last_received_s, paygrade.now_ms() / 1000) AS received_s FROM judged
      WHERE stored_seq IS NULL AND expires_ms > paygrade.now_ms() AND event_count < ${EVENT_COUNT_MAX}
    ),
    numbered AS (
      UPDATE paygrade.callbacks c SET event_count = f.seq, last_event_id = f.id, last_received_s = f.received_s
      FROM fresh f WHERE c.id = f.callback_id RETURNING c.id
    ),
    stored AS (
      INSERT INTO paygrade.callback_events (callback_id, id, seq, received_s, head_rest, charset, size, body)
      SELECT f.callback_id, f.id, f.seq, f.received_s, f.head_rest, f.charset, f.size, substring($7::bytea FROM f.start FOR f.size)
      FROM fresh f JOIN numbered n ON n.id = f.callback_id
    )
    SELECT j.callback_id, j.expires_ms, j.event_count, paygrade.now_ms() AS now_ms, coalesce(f.seq, j.stored_seq) AS seq, f.received_s
    FROM judged j LEFT JOIN fresh f ON f.callback_id = j.callback_id`,
} as const;

/** Columns of an event in `e`; without the body when it is long. */
const EVENT_COLUMNS = `e.id, e.seq, e.received_s, e.head_rest, e.charset, e.size,
  CASE WHEN e.size <= ${INLINE_BYTES_MAX} THEN e.body END AS body`;

/** $1 id of the callback. A row for each event, or one row without an event; no row for an unknown id. */
export const LIST = {
  name: 'list-events',
  text: `
    SELECT c.expires_ms, paygrade.now_ms() AS now_ms, ${EVENT_COLUMNS} FROM paygrade.callbacks c
    LEFT JOIN paygrade.callback_events e ON e.callback_id = c.id AND c.expires_ms > paygrade.now_ms()
    WHERE c.id = $1 ORDER BY e.seq`,
} as const;

/** $1 id of the callback, $2 id of the event. The same for one event. */
export const EVENT = {
  name: 'find-event',
  text: `
    SELECT c.expires_ms, paygrade.now_ms() AS now_ms, ${EVENT_COLUMNS} FROM paygrade.callbacks c
    LEFT JOIN paygrade.callback_events e ON e.callback_id = c.id AND e.id = $2 AND c.expires_ms > paygrade.now_ms()
    WHERE c.id = $1`,
} as const;

/** $1 id of the callback, $2 id of the event, $3 number of the part. */
export const PART = {
  name: 'read-event-part',
  text: `
    SELECT c.expires_ms, paygrade.now_ms() AS now_ms, e.id, e.received_s, e.head_rest, e.charset, e.size,
      substring(e.body FROM $3::integer * ${EVENT_PART_BYTES} + 1 FOR ${EVENT_PART_BYTES}) AS part
    FROM paygrade.callbacks c
    LEFT JOIN paygrade.callback_events e ON e.callback_id = c.id AND e.id = $2 AND c.expires_ms > paygrade.now_ms()
    WHERE c.id = $1`,
} as const;

/**
 * $1 ids of callbacks, $2 for each wait the id of the event after which it looks ('' = from the first), in order.
 * `after_seq` null: no such event; `id` null: no event after it.
 */
export const LOOK = {
  name: 'look-for-events',
  text: `
    SELECT c.expires_ms, c.event_count, paygrade.now_ms() AS now_ms, CASE w.after WHEN '' THEN 0 ELSE a.seq END AS after_seq, ${EVENT_COLUMNS}
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (callback_id, after, place)
    LEFT JOIN paygrade.callbacks c ON c.id = w.callback_id
    LEFT JOIN paygrade.callback_events a ON a.callback_id = c.id AND a.id = w.after
    LEFT JOIN paygrade.callback_events e ON e.callback_id = c.id
      AND e.seq = CASE w.after WHEN '' THEN 0 ELSE a.seq END + 1
    ORDER BY w.place`,
} as const;

/** $1 ids of callbacks, $2 the number of events known of each. Returns those that have another event or have ended. */
export const NEWS = {
  name: 'poll-callbacks',
  text: `
    SELECT w.callback_id, c.expires_ms, c.event_count, paygrade.now_ms() AS now_ms
    FROM unnest($1::text[], $2::integer[]) AS w (callback_id, seen)
    LEFT JOIN paygrade.callbacks c ON c.id = w.callback_id
    WHERE c.id IS NULL OR c.event_count > w.seen OR c.expires_ms <= paygrade.now_ms()`,
} as const;

/**
 * $1 id of the callback. `count` is 1 if it was live; a sweep may have ended it while this statement waited for the row.
 */
export const DELETE = {
  name: 'delete-callback',
  text: `
    WITH gone AS (DELETE FROM paygrade.callbacks WHERE id = $1 AND expires_ms > paygrade.now_ms() AND NOT is_over RETURNING id),
    counted AS (UPDATE paygrade.callback_room SET claimed = claimed - 1 WHERE id = 1 AND EXISTS (SELECT FROM gone))
    SELECT (SELECT count(*) FROM gone) AS count,
      (SELECT expires_ms FROM paygrade.callbacks WHERE id = $1) AS expires_ms, paygrade.now_ms() AS now_ms`,
} as const;

/**
 * $1 the process's time. Ends `count` callbacks that have expired by both clocks, since either may be ahead: deletes their events,
 * and frees the capacity of those callbacks and of lapsed claims.
 */
export const SWEEP = {
  name: 'sweep-callbacks',
  text: `
    WITH expired AS (
      SELECT id FROM paygrade.callbacks WHERE NOT is_over AND expires_ms <= ${passedMs('$1')}
      ORDER BY expires_ms LIMIT ${SWEEP_COUNT_MAX} FOR UPDATE SKIP LOCKED
    ),
    ended AS (UPDATE paygrade.callbacks c SET is_over = true FROM expired WHERE c.id = expired.id RETURNING c.id),
    emptied AS (DELETE FROM paygrade.callback_events e USING ended WHERE e.callback_id = ended.id),
    lapsed AS (DELETE FROM paygrade.callback_claims WHERE id IN (
      SELECT id FROM paygrade.callback_claims WHERE until_ms <= paygrade.now_ms() LIMIT ${SWEEP_COUNT_MAX} FOR UPDATE SKIP LOCKED
    ) RETURNING id),
    freed AS (SELECT (SELECT count(*) FROM ended) + (SELECT count(*) FROM lapsed) AS count),
    counted AS (
      UPDATE paygrade.callback_room r SET claimed = r.claimed - freed.count FROM freed WHERE r.id = 1 AND freed.count > 0
    )
    SELECT count FROM freed`,
} as const;

/** Deletes callbacks that expired over an hour ago. */
export const FORGET = {
  name: 'forget-callbacks',
  text: `DELETE FROM paygrade.callbacks WHERE id IN (
    SELECT id FROM paygrade.callbacks WHERE is_over AND expires_ms <= paygrade.now_ms() - ${TOMBSTONE_MS}
    LIMIT 4096 FOR UPDATE SKIP LOCKED)`,
} as const;

/** Deletes the rates of ids without a webhook in the last window. */
export const FORGET_RATES = {
  name: 'forget-callback-rates',
  text: `DELETE FROM paygrade.callback_rates WHERE last_ms <= paygrade.now_ms() - ${RATE_WINDOW_MS}`,
} as const;

/** For metrics. */
export const COUNTS = {
  name: 'count-callbacks',
  text: `
    SELECT (SELECT claimed FROM paygrade.callback_room WHERE id = 1) AS claimed,
      (SELECT count(*) FROM paygrade.callbacks WHERE NOT is_over) AS live,
      (SELECT count(*) FROM paygrade.callbacks WHERE is_over) AS over,
      (SELECT count(*) FROM paygrade.callback_rates r WHERE NOT EXISTS (SELECT FROM paygrade.callbacks c WHERE c.id = r.id)) AS unknown`,
} as const;
