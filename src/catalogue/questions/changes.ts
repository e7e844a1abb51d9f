/**
 * The changes question (siblings §2): matching jobs that were first observed inside the period, and those that closed inside
 * it.
 */
import { keepTop } from '../../base/top-list.ts';
import type { Catalogue } from '../catalogue.ts';
import type { CohortFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { rowFilterOf } from '../index/row-filter.ts';
import { COHORT_ROWS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type CohortFilters, matchesAmong, matchingRows } from './cohort-rows.ts';
import type { FoundJob } from './found-jobs.ts';
import type { ObservationPeriod } from './period.ts';

export interface ClosedFoundJob extends FoundJob {
  readonly closedAtMs: number;
}

export interface Changes {
  readonly cohort: CohortFacts;
  /** Newest first observation first, then by id. */
  readonly firstObserved: readonly FoundJob[];
  /** Newest closing first, then by id. */
  readonly noLongerObserved: readonly ClosedFoundJob[];
  /** Of the whole scope, or `null` when the cohort is a sample. */
  readonly firstObservedJobs: number | null;
  /** `null` when more jobs of the scope closed inside the period than there are candidates. */
  readonly noLongerObservedJobs: number | null;
}

/**
 * `undefined` when the question names a company that no job, active or closed, has.
 * @param limit entries of each list
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function changes(
  catalogue: Catalogue,
  company: CompanyDomain | undefined,
  filters: CohortFilters,
  limit: number,
  period: ObservationPeriod,
): Changes | undefined {
  const { foundJobs, snapshot } = catalogue;
  const cohort = catalogue.cohortNamed(company);
  if (cohort === undefined) return undefined;
  const filter = rowFilterOf(filters);
  const opened = firstObservedInside(snapshot, matchingRows(catalogue, cohort, filter), period, limit);
  const closings =
    company === undefined
      ? snapshot.closedBetween(period.startMs, period.endMs)
      : closingsIn(snapshot, snapshot.companyOf(company)!, period);
  const closed = matchesAmong(snapshot, closings.subarray(0, COHORT_ROWS_MAX), filter);
  const closedRows = Array.from(closed.subarray(0, limit));
  return {
    cohort: cohort.facts,
    firstObserved: foundJobs.at(opened.rows),
    noLongerObserved: foundJobs
      .at(closedRows)
      .map((job, i) => ({ ...job, closedAtMs: snapshot.closedAt(closedRows[i]!)! })),
    firstObservedJobs: cohort.facts.sampled ? null : opened.count,
    noLongerObservedJobs: closings.length > COHORT_ROWS_MAX ? null : closed.length,
  };
}

/** How many of some rows were first observed inside a period, and the first `limit` of them in the order of the answer. */
function firstObservedInside(
  { firstObserved, idRank }: Snapshot,
  rows: Uint32Array,
  { endMs, startMs }: ObservationPeriod,
  limit: number,
): { rows: number[]; count: number } {
  const comesBefore = (left: number, right: number): boolean => {
    const difference = firstObserved[left]! - firstObserved[right]!;
    return difference === 0 ? idRank[left]! < idRank[right]! : difference > 0;
  };
  const newest: number[] = [];
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const observed = firstObserved[row]!;
    if (observed < startMs || observed > endMs) continue;
    count++;
    keepTop(newest, row, limit, comesBefore);
  }
  return { rows: newest, count };
}

/** The rows of one company that closed inside a period, newest closing first, then by id. It looks at all of its closed rows. */
function closingsIn(snapshot: Snapshot, company: number, { endMs, startMs }: ObservationPeriod): Uint32Array {
  const { activeCount, closedAtByClosedRow, companyOffsets, companyRows, idRank } = snapshot;
  const closedAt = (row: number): number => closedAtByClosedRow[row - activeCount]!;
  const start = companyOffsets[company]! + snapshot.activeCountOf(company);
  return companyRows
    .subarray(start, companyOffsets[company + 1]!)
    .filter((row) => closedAt(row) >= startMs && closedAt(row) <= endMs)
    .sort((a, b) => closedAt(b) - closedAt(a) || idRank[a]! - idRank[b]!);
}
