/** Allocates and frees some pages in one transaction, to find out whether the disk accepts writes again. */
import type { Operation, Table } from './table.ts';

const PROBE_BYTES = 65_536;

export const PROBE: Operation = { table: 'probe', kind: 'probe' };

export const probe: Table = {
  name: PROBE.table,
  schema: 'CREATE TABLE probe (filler BLOB);',
  apply(connection) {
    connection.run('INSERT INTO probe (filler) VALUES (zeroblob(?))', PROBE_BYTES);
    connection.run('DELETE FROM probe');
  },
};
