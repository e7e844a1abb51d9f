/**
 * Payments. `claims`: one row for each authorization that is not free; its unique key gives it to one purchase.
 * `cases`: settlements without a recorded outcome, each with the process that works on it. `identifiers`: payment
 * identifiers and their sealed answers.
 *
 * A claim says `reserved` until its intent is on record; from then on its case says settling or unknown, and its sale
 * (sales.ts) says settled. So a claim is updated once, and a sale updates no indexed column.
 */
import type { DomainTables } from './table.ts';

/** `claims.state`. */
export const RESERVED = 0;
export const INTENDED = 1;
export const DEAD = 2;

export const payments: DomainTables = {
  name: 'payments',
  migrations: [
    `CREATE TABLE paygrade.claims (
       key bytea PRIMARY KEY,
       serial bigint GENERATED ALWAYS AS IDENTITY,
       owner text NOT NULL,
       attempt bigint NOT NULL,
       valid_before bigint NOT NULL,
       state smallint NOT NULL DEFAULT ${RESERVED},
       transaction text NOT NULL DEFAULT ''
     ) WITH (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05);
     CREATE UNIQUE INDEX claims_serial ON paygrade.claims (serial);
     CREATE TABLE paygrade.cases (
       serial bigint PRIMARY KEY,
       owner text NOT NULL,
       settlement text NOT NULL,
       is_unknown boolean NOT NULL DEFAULT false,
       transaction text NOT NULL DEFAULT '',
       terms text NOT NULL,
       sale text NOT NULL
     ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
     CREATE TABLE paygrade.identifiers (
       digest bytea PRIMARY KEY,
       fingerprint bytea NOT NULL,
       owner text NOT NULL,
       attempt bigint NOT NULL,
       serial bigint,
       kept_until_ms bigint,
       transaction text NOT NULL DEFAULT '',
       sealed bytea
     );
     CREATE UNIQUE INDEX identifiers_serial ON paygrade.identifiers (serial);
     CREATE INDEX identifiers_kept ON paygrade.identifiers (kept_until_ms);
     CREATE INDEX identifiers_open ON paygrade.identifiers (owner) WHERE sealed IS NULL`,
    // A purchase may have two identifiers.
    `DROP INDEX paygrade.identifiers_serial;
     CREATE INDEX identifiers_serial ON paygrade.identifiers (serial)`,
    // A refusal that frees nothing is remembered, also by a process that takes the case over.
    'ALTER TABLE paygrade.cases ADD COLUMN is_refused boolean NOT NULL DEFAULT false',
  ],
};
