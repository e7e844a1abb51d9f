/**
 * Which tables these are: a restored dump, or a copy made with CREATE DATABASE, brings the row of the tables that it was taken
 * from (identity.ts). A stand-by and a physical backup have the same cluster, and the same numbers for the same objects.
 */
import type { DomainTables } from './table.ts';

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
  ],
};
