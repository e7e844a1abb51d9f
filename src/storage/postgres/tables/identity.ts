/**
 * Which tables these are: a restored dump, or a copy made with CREATE DATABASE, brings the row of the tables that it was taken
 * from (identity.ts). A stand-by and a physical backup have the same cluster, and the same numbers for the same objects.
 */
import type { DomainTables } from './table.ts';

/**
 * SQL: the next claims get higher serials than any of earlier tables. They go on from the time in microseconds, because no
 * database takes a million claims a second.
 * @param nowMs SQL expression
 */
export const numbersFrom = (nowMs: string): string => {
  const sequence = "pg_get_serial_sequence('paygrade.claims', 'serial')";
  return `setval(${sequence}, greatest(nextval(${sequence}), ${nowMs} * 1000))`;
};

export const identity: DomainTables = {
  name: 'identity',
  migrations: [
    // A function of its own: a role that may not ask for the cluster must not fail with the rest.
    `CREATE FUNCTION paygrade.cluster_id() RETURNS text LANGUAGE sql VOLATILE AS
       'SELECT system_identifier::text FROM pg_control_system()';
     CREATE FUNCTION paygrade.tables_id() RETURNS text LANGUAGE sql VOLATILE AS
       $$ SELECT concat_ws(' ',
            CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE') THEN paygrade.cluster_id() END,
            (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('paygrade.claims')::oid) $$;
     CREATE TABLE paygrade.identity (
       id integer PRIMARY KEY CHECK (id = 1),
       tables text NOT NULL,
       used_before_seconds bigint NOT NULL
     );
     INSERT INTO paygrade.identity (id, tables, used_before_seconds) VALUES (1, paygrade.tables_id(), 0)`,
    // These tables may take the place of others, under processes that run.
    `SELECT ${numbersFrom('paygrade.now_ms()')}`,
  ],
};
