/**
 * Which rows of the whole catalogue, or of some of its rows, match a filter: by the index, and row by row for the few rows that
 * it leaves out (sections.ts).
 */
import type { RowFilter } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  type FoundRows,
  hasMember,
  type RowFinder,
  type RowUnion,
  unionOfRows,
  unionOfSets,
  unionOfTerm,
} from './row-finder.ts';
import type { TokenIndex } from './token-index.ts';

/** The parts of a filter that the index answers. */
export type IndexedFilter = Pick<RowFilter, 'keyword' | 'location' | 'remoteStatus' | 'employmentType'>;

/** How much a question wants to know. */
export interface Wanted {
  /** Rows that are listed. */
  readonly rows: number;
  /** Counting may stop past this number. */
  readonly count: number;
}

/**
 * The matching ones of the rows from 0 to `end - 1`.
 * @param filter asks for something, or `among` is given
 * @param among  only these rows, ascending
 */
export function selectRows(
  snapshot: Snapshot,
  finder: RowFinder,
  filter: IndexedFilter,
  end: number,
  wanted: Wanted,
  among?: Uint32Array,
): FoundRows {
  const { whole } = snapshot;
  const indexed = foundByIndex(snapshot, finder, filter, end, wanted, among);
  // The sets of the closed lists have every row.
  if (whole.unindexedRows.length === 0 || filter.keyword.length + filter.location.length === 0) return indexed;
  const rows = whole.unindexedRows.filter(
    (row) => row < end && (among === undefined || hasMember(among, 0, among.length, row)),
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
  end: number,
  wanted: Wanted,
  among: Uint32Array | undefined,
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
  // A term that is nowhere ends the question before any row is read.
  if (!addTerms(filter.keyword, whole.keyword) || !addTerms(filter.location, whole.location)) {
    return { rows: [], count: 0 };
  }
  const { employmentType, remoteStatus } = filter;
  if (remoteStatus !== undefined) conditions.push(unionOfSets([whole.remoteSet(remoteStatus)], whole.sets));
  if (employmentType !== undefined) conditions.push(unionOfSets([whole.employmentSet(employmentType)], whole.sets));
  if (among !== undefined) conditions.push(unionOfRows(among, whole.sets.chunkCount));
  return finder.find(conditions, end, wanted.rows, wanted.count);
}
