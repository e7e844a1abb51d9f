/**
 * Pages of jobs (siblings §4): active ones, closed ones or both, newest last observation first (decisions §3), from a
 * position on. The snapshot has active and closed rows each in order; a list of both merges them.
 *
 * Cost: a page of a filtered list looks at the chunks of 65,536 rows from its place on until it is full
 * (row-finder.ts); a page of one company, department or skill reads just its rows.
 */
import { Buffer } from 'node:buffer';
import type { Catalogue } from '../catalogue.ts';
import { isUnfiltered, type RowFilter, rowFilterOf } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import { SCANNED_ROWS_MAX } from '../limits.ts';
import type { RowTexts } from '../snapshot/cold-rows.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { comparedText } from '../terms.ts';
import { hasMember } from '../whole/row-finder.ts';
import { selectRows } from '../whole/select-rows.ts';
import {
  digestOf,
  encodeJobPosition,
  firstRowAfter,
  firstRowBefore,
  jobPositionOf,
  parseJobPosition,
} from './job-positions.ts';
import type { JobListFilters, JobPage } from './listing-answers.ts';
import { rowsBetween } from './rows-between.ts';

const NO_JOBS: JobPage = {
  rows: [],
  read: [],
  texts: { bytes: Buffer.alloc(0), places: new Uint32Array(0) },
  next: null,
};

/** The conditions of a list on a row, made from the filters of a request. */
interface Wanted {
  /** The conditions that the index answers; never a department. */
  readonly filter: RowFilter;
  /** A row must be in all of these lists, each ascending. */
  readonly lists: readonly Uint32Array[];
}

/**
 * @param after where the page before ended; `undefined` = from the beginning
 * @param limit at least 1
 * @param hasText whether the caller has the texts of a row, so that they need not be read
 * @returns `undefined` when `after` is no position
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function listJobs(
  catalogue: Catalogue,
  filters: JobListFilters,
  after: Uint8Array | undefined,
  limit: number,
  hasText: (row: number) => boolean = () => false,
): JobPage | undefined {
  const position = after === undefined ? undefined : parseJobPosition(after);
  if (after !== undefined && position === undefined) return undefined;
  const { snapshot } = catalogue;
  const { activeCount, rowCount } = snapshot;
  const wanted = wantedBy(catalogue, filters);
  if (wanted === undefined) return NO_JOBS;
  const { observedSinceMs, status } = filters;
  const rowsIn = (first: number, past: number): number[] => {
    const end = observedSinceMs === undefined ? past : firstRowBefore(snapshot, first, past, observedSinceMs);
    const start = position === undefined ? first : firstRowAfter(snapshot, first, end, position);
    return matchesIn(catalogue, wanted, start, end, limit + 1);
  };
  const active = status === 'closed' ? [] : rowsIn(0, activeCount);
  const closed = status === 'active' ? [] : rowsIn(activeCount, rowCount);
  const found = mergedRows(snapshot, active, closed, limit + 1);
  const rows = found.length <= limit ? found : found.slice(0, limit);
  const isEnd = rows === found;
  const read = rows.filter((row, i) => !hasText(row) || (!isEnd && i === limit - 1));
  const texts = catalogue.foundJobs.textsAt(read);
  return { rows, read, texts, next: isEnd ? null : positionAfter(snapshot, rows.at(-1)!, texts) };
}

/** The position where a page ends. @param texts the last ones belong to its last row */
function positionAfter(snapshot: Snapshot, lastRow: number, { bytes, places }: RowTexts): Uint8Array {
  const id = bytes.subarray(places.at(-3)!, places.at(-2)!);
  return encodeJobPosition(jobPositionOf(snapshot, lastRow, id));
}

/** `undefined` when no job can match. */
function wantedBy({ listing, snapshot }: Catalogue, filters: JobListFilters): Wanted | undefined {
  const { company, department, skill, ...indexed } = filters;
  const lists: Uint32Array[] = [];
  if (company !== undefined) {
    const code = snapshot.companyOf(company);
    if (code === undefined) return undefined;
    lists.push(snapshot.rowsIn(code));
  }
  if (department !== undefined) lists.push(listing.departments.rowsOf(comparedText(department)));
  if (skill !== undefined) lists.push(listing.skills.rowsOf(comparedText(skill)));
  return { filter: rowFilterOf(indexed), lists };
}

/** The first `count` of the rows `start .. end - 1` that match, ascending. */
function matchesIn(
  { finder, snapshot }: Catalogue,
  { filter, lists }: Wanted,
  start: number,
  end: number,
  count: number,
): number[] {
  if (start >= end) return [];
  const among = lists.map((rows) => rowsBetween(rows, start, end)).sort((a, b) => a.length - b.length);
  const [fewest, ...others] = among;
  if (fewest === undefined && isUnfiltered(filter)) {
    return Array.from({ length: Math.min(count, end - start) }, (_, i) => start + i);
  }
  if (fewest !== undefined && others.length === 0 && isUnfiltered(filter)) return [...fewest.subarray(0, count)];
  if (fewest !== undefined && fewest.length <= SCANNED_ROWS_MAX) {
    const rows = fewest.filter((row) => others.every((list) => hasMember(list, 0, list.length, row)));
    if (isUnfiltered(filter)) return [...rows.subarray(0, count)];
    return new RowScan(snapshot, filter, rows.length).matchesAmong(rows, count).map((index) => rows[index]!);
  }
  return selectRows(snapshot, finder, filter, { start, end }, { rows: count, count }, among).rows;
}

/** The first `count` rows of both, in order. Rows with equal times are compared by digest, which needs their ids. */
function mergedRows(snapshot: Snapshot, active: number[], closed: number[], count: number): number[] {
  if (active.length === 0 || closed.length === 0) return [...active, ...closed].slice(0, count);
  const { lastObserved } = snapshot;
  const digests = new Map<number, string>();
  const digest = (row: number): string => {
    const known = digests.get(row) ?? digestOf(snapshot, row);
    digests.set(row, known);
    return known;
  };
  const comesFirst = (left: number, right: number): boolean => {
    const difference = lastObserved[left]! - lastObserved[right]!;
    return difference === 0 ? digest(left) < digest(right) : difference > 0;
  };
  const merged: number[] = [];
  for (let a = 0, c = 0; merged.length < count && (a < active.length || c < closed.length); ) {
    const isActive = c === closed.length || (a < active.length && comesFirst(active[a]!, closed[c]!));
    merged.push(isActive ? active[a++]! : closed[c++]!);
  }
  snapshot.cold.requireUnchanged();
  return merged;
}
