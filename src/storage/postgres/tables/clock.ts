/**
 * The database's clock (siblings §9): it decides expiry, windows and leases. `paygrade.now_ms()` is the wall clock at
 * the beginning of the statement, milliseconds since 1970; tests replace it with one that they set.
 */
import type { DomainTables } from './table.ts';

export const clock: DomainTables = {
  name: 'clock',
  migrations: [
    `CREATE FUNCTION paygrade.now_ms() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS
     'SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint'`,
  ],
};
