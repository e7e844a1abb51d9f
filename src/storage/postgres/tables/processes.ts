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
    // Volatile, so that it also sees processes that registered after the statement that calls it began (owners.ts).
    `CREATE FUNCTION paygrade.is_alive(process text) RETURNS boolean LANGUAGE sql VOLATILE AS
       $$ SELECT EXISTS (SELECT FROM paygrade.processes WHERE id = process) $$`,
  ],
};
