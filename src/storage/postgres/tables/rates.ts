/**
 * What processes tell each other of the passes that they counted (rates/rate-limits.ts). It says nothing that must last: after a
 * crash of the database it is empty, as the memory of one process would be.
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
