/**
 * The sums of passes that processes share (rates/rate-limits.ts). Nothing here must last: after a crash of the database
 * the table is empty, as one process's memory would be.
 */
import type { DomainTables } from './table.ts';

export const rates: DomainTables = {
  name: 'rates',
  migrations: [
    `CREATE UNLOGGED TABLE paygrade.rate_sums (
       process text NOT NULL,
       serial bigint NOT NULL,
       at_ms bigint NOT NULL,
       sums json NOT NULL,
       PRIMARY KEY (process, serial)
     );
     CREATE INDEX rate_sums_at ON paygrade.rate_sums (at_ms)`,
  ],
};
