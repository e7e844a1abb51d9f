/** Ascending rows. */
import { placeOfRow } from '../whole/row-finder.ts';

/** The rows from `start` to `end - 1`; a view. */
export function rowsBetween(rows: Uint32Array, start: number, end: number): Uint32Array {
  const first = placeOfRow(rows, start, 0);
  return rows.subarray(first, placeOfRow(rows, end, first));
}
