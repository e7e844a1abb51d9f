/**
 * Which rows of the whole catalogue, or of some of its rows, match a filter: by the index, and row by row for the few rows that
 * it leaves out (sections.ts).
 */
import type { RowFilter } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type FoundRows, hasMember, type RowFinder, type RowRange, type Wanted } from './row-finder.ts';
import { type RowUnion, unionOfRows, unionOfSets, unionOfTerm } from './row-union.ts';
import type { TokenIndex } from './token-index.ts';

/** The parts of a filter that the index answers. */
export type IndexedFilter = Pick<RowFilter, 'keyword' | 'location' | 'remoteStatus' | 'employmentType'>;

/**
 * The matching ones of a range of rows.
 * @param filter asks for something, or `among` has a list
 * @param among  only rows that all of these lists have, each ascending
 */
export function selectRows(
  snapshot: Snapshot,
  finder: RowFinder,
  filter: IndexedFilter,
  range: RowRange,
  wanted: Wanted,
  among: readonly Uint32Array[] = [],
): FoundRows {
  const { whole } = snapshot;
  const indexed = foundByIndex(snapshot, finder, filter, range, wanted, among);
  // The sets of the closed lists have every row.
  if (whole.unindexedRows.length === 0 || filter.keyword.length + filter.location.length === 0) return indexed;
  const rows = whole.unindexedRows.filter(
    (row) => row >= range.start && row < range.end && among.every((list) => hasMember(list, 0, list.length, row)),
  );
  const scan = new RowScan(snapshot, { ...filter, title: [], department: undefined }, rows.length);
  const scanned = scan.matchesAmong(rows, wanted.count + 1).map((index) => rows[index]!);
  return {
    rows: [...indexed.rows, ...scanned].sort((a, b) => a - b).slice(0, wanted.rows),
    count: indexed.count + scanned.length,
  };
}

function foundByIndex(
  { whole }: Snapshot,
  finder: RowFinder,
  filter: IndexedFilter,
  range: RowRange,
  wanted: Wanted,
  among: readonly Uint32Array[],
): FoundRows {
  const conditions: RowUnion[] = [];
  const addTerms = (terms: readonly string[], tokens: TokenIndex): boolean => {
    for (const term of terms) {
      const places = tokens.find(term);
      if (places === undefined) return false;
      conditions.push(unionOfTerm(places, tokens.sections, whole.sets));
    }
    return true;
  };
  // A term without any row ends the question before any row is read.
  if (!addTerms(filter.keyword, whole.keyword) || !addTerms(filter.location, whole.location)) {
    return { rows: [], count: 0 };
  }
  const { employmentType, remoteStatus } = filter;
  if (remoteStatus !== undefined) conditions.push(unionOfSets([whole.remoteSet(remoteStatus)], whole.sets));
  if (employmentType !== undefined) conditions.push(unionOfSets([whole.employmentSet(employmentType)], whole.sets));
  for (const list of among) conditions.push(unionOfRows(list));
  return finder.find(conditions, range, wanted);
}
