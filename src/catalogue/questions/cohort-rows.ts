/** The rows of a cohort that match a filter, for the questions that count over all of them. */
import type { Catalogue } from '../catalogue.ts';
import type { Cohort } from '../cohort.ts';
import { isUnfiltered, type RowFilter } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import { select } from '../index/select.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** Filters as the request has them; `role` and `location` of at most eight terms. */
export interface CohortFilters {
  role?: string | undefined;
  location?: string | undefined;
  /** The whole department, in compared form. */
  department?: string | undefined;
}

/**
 * All matching rows of the catalogue's cohort, by the index, or of a company's, row by row.
 * @returns rows in no order; read only
 */
export function matchingRows(catalogue: Catalogue, cohort: Cohort, filter: RowFilter): Uint32Array {
  if (isUnfiltered(filter)) return cohort.rows;
  if (cohort !== catalogue.cohort) return matchesAmong(catalogue.snapshot, cohort.rows, filter);
  const { matches, rows } = catalogue.byCompany;
  select(catalogue.byCompany, filter, rows.length);
  const positions = matches.toSet().first(matches.count);
  return Uint32Array.from(positions, (position) => rows[position]!);
}

/** The matching ones of some rows, in their order, row by row. */
export function matchesAmong(snapshot: Snapshot, rows: Uint32Array, filter: RowFilter): Uint32Array {
  if (isUnfiltered(filter)) return rows;
  const indexes = new RowScan(snapshot, filter, rows.length).matchesAmong(rows, rows.length);
  return Uint32Array.from(indexes, (index) => rows[index]!);
}
