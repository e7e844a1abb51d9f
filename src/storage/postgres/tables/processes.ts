/** The processes that share the database, each with a lease that it renews while it lives (owners.ts). */
import type { DomainTables } from './table.ts';

export const processes: DomainTables = {
  name: 'processes',
  migrations: [
    `CREATE TABLE paygrade.processes (
       id text PRIMARY KEY,
       started_ms bigint NOT NULL,
       lease_until_ms bigint NOT NULL
     )`,
  ],
};
