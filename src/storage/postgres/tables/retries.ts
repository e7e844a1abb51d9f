/**
 * Retry jobs (siblings §6, §9). `next_ms` is when the next step is due. `holder` is the process that holds the job; `hold`
 * names the look that took it and serves as a fencing token: the holder's writes carry it. `version` rises with every change,
 * and a change based on an older version has no effect; `change_id` shows after a lost answer which change was the last.
 */
import type { DomainTables } from './table.ts';

export const retries: DomainTables = {
  name: 'retries',
  migrations: [
    `CREATE TABLE paygrade.retries (
       id text PRIMARY KEY,
       customer text NOT NULL,
       key_digest text,
       next_ms bigint NOT NULL,
       holder text,
       hold text,
       is_abandoned boolean NOT NULL DEFAULT false,
       version bigint NOT NULL DEFAULT 0,
       change_id text NOT NULL DEFAULT '',
       state text NOT NULL,
       secrets bytea,
       result_body bytea
     );
     CREATE UNIQUE INDEX retries_key ON paygrade.retries (key_digest) WHERE key_digest IS NOT NULL;
     CREATE INDEX retries_due ON paygrade.retries (next_ms, customer) WHERE holder IS NULL;
     CREATE INDEX retries_held ON paygrade.retries (holder) WHERE holder IS NOT NULL;
     CREATE TABLE paygrade.retry_usage (
       organization text NOT NULL,
       month_ms bigint NOT NULL,
       created bigint NOT NULL,
       attempts bigint NOT NULL,
       delivered bigint NOT NULL,
       PRIMARY KEY (organization, month_ms)
     );
     CREATE TABLE paygrade.retry_claims (key_digest text PRIMARY KEY, owner text NOT NULL, until_ms bigint NOT NULL)`,
  ],
};
