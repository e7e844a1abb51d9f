/**
 * Paid resolves (siblings §7, §9). A pending resolve has its question, and `holder` is the process that works on it;
 * `hold` names the take-over, if there was one. After its hour the row keeps only id, digest and time.
 */
import type { DomainTables } from './table.ts';

export const resolves: DomainTables = {
  name: 'resolves',
  migrations: [
    `CREATE TABLE paygrade.resolves (
       id text PRIMARY KEY,
       token_digest bytea NOT NULL,
       created_ms bigint NOT NULL,
       status text NOT NULL,
       question text,
       outcome text,
       outcome_bytes integer NOT NULL DEFAULT 0,
       holder text,
       hold text
     );
     CREATE INDEX resolves_pending ON paygrade.resolves (holder) WHERE status = 'pending';
     CREATE INDEX resolves_live ON paygrade.resolves (created_ms) WHERE status <> 'expired';
     CREATE INDEX resolves_expired ON paygrade.resolves (created_ms) WHERE status = 'expired'`,
  ],
};
