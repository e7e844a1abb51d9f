/** Ascending rows. */
import type { Snapshot } from '../snapshot/snapshot.ts';
import { placeOfRow } from '../whole/row-finder.ts';

/** The rows from `start` to `end - 1`; a view. */
export function rowsBetween(rows: Uint32Array, start: number, end: number): Uint32Array {
  const first = placeOfRow(rows, start, 0);
  return rows.subarray(first, placeOfRow(rows, end, first));
}

/** Every active row. */
export function activeRows({ activeCount }: Snapshot): Uint32Array {
  const rows = new Uint32Array(activeCount);
  for (let row = 0; row < activeCount; row++) rows[row] = row;
  return rows;
}
