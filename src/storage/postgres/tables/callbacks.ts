/**
 * Callbacks, their events, and the data for decisions about them (siblings §9; decisions §5).
 *
 * The row of a callback numbers its events: `event_count` is the sequence number of the last one, and a statement that
 * stores an event locks that row, so a reader never sees a gap. An expired callback keeps its row for another hour;
 * `is_over` means that its events are deleted and its claim is given back. `callback_room` has one row: how many
 * callbacks and claims there are.
 */
import type { DomainTables } from './table.ts';

export const callbacks: DomainTables = {
  name: 'callbacks',
  migrations: [
    `CREATE TABLE paygrade.callbacks (
       id text PRIMARY KEY,
       token_digest bytea NOT NULL,
       expires_ms bigint NOT NULL,
       event_count smallint NOT NULL DEFAULT 0 CHECK (event_count BETWEEN 0 AND 10),
       last_event_id text NOT NULL DEFAULT '',
       last_received_s bigint NOT NULL DEFAULT 0,
       is_over boolean NOT NULL DEFAULT false
     ) WITH (fillfactor = 70);
     CREATE INDEX callbacks_live ON paygrade.callbacks (expires_ms) WHERE NOT is_over;
     CREATE INDEX callbacks_over ON paygrade.callbacks (expires_ms) WHERE is_over;
     CREATE TABLE paygrade.callback_events (
       callback_id text NOT NULL REFERENCES paygrade.callbacks ON DELETE CASCADE,
       id text NOT NULL,
       seq smallint NOT NULL,
       received_s bigint NOT NULL,
       head_rest text NOT NULL,
       charset text,
       size integer NOT NULL,
       body bytea NOT NULL,
       PRIMARY KEY (callback_id, id)
     );
     ALTER TABLE paygrade.callback_events ALTER COLUMN body SET STORAGE EXTERNAL;
     CREATE TABLE paygrade.callback_claims (id text PRIMARY KEY, until_ms bigint NOT NULL);
     CREATE INDEX callback_claims_until ON paygrade.callback_claims (until_ms);
     CREATE TABLE paygrade.callback_room (id integer PRIMARY KEY CHECK (id = 1), claimed bigint NOT NULL);
     INSERT INTO paygrade.callback_room (id, claimed) VALUES (1, 0);
     CREATE UNLOGGED TABLE paygrade.callback_rates (
       id text PRIMARY KEY,
       passes bigint[] NOT NULL,
       asked integer NOT NULL,
       passed integer NOT NULL,
       last_ms bigint NOT NULL
     )`,
    `ALTER TABLE paygrade.callback_rates ADD COLUMN attempt text NOT NULL DEFAULT ''`,
  ],
};
