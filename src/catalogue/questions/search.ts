/** The search question (specification, "GET /v1/jobs/search"): matching jobs, newest observation first. */
import type { Catalogue } from '../catalogue.ts';
import type { Cohort, CohortFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { isUnfiltered, type RowFilter, rowFilterOf } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import { select, selectByIndex } from '../index/select.ts';
import type { EmploymentType } from '../job.ts';
import { PART_ROWS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { FoundJob } from './found-jobs.ts';

/** Filters as the request has them; each text of at most eight terms. */
export interface SearchFilters {
  keyword?: string | undefined;
  location?: string | undefined;
  company?: CompanyDomain | undefined;
  /** `true` = remote, `false` = on site. */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

/**
 * The first `limit` matching jobs of the catalogue's cohort, or of the company's when the filters name one. A company that
 * is not in the catalogue has an empty cohort.
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function search(
  catalogue: Catalogue,
  filters: SearchFilters,
  limit: number,
): { cohort: CohortFacts; jobs: FoundJob[] } {
  const { foundJobs, snapshot } = catalogue;
  const filter = rowFilterOf(filters);
  if (filters.company === undefined) {
    return { cohort: catalogue.cohort.facts, jobs: foundJobs.at(newestOfCatalogue(catalogue, filter, limit)) };
  }
  const company = snapshot.companyOf(filters.company);
  const cohort = company === undefined ? catalogue.unknownCompanyCohort() : catalogue.cohortOf(company);
  return { cohort: cohort.facts, jobs: foundJobs.at(newestOfCompany(snapshot, cohort, filter, limit)) };
}

function newestOfCatalogue({ newestFirst }: Catalogue, filter: RowFilter, limit: number): number[] {
  if (isUnfiltered(filter)) newestFirst.matches.startWithAll();
  else select(newestFirst, filter, limit);
  return newestFirst.newestMatches(limit);
}

/**
 * The first search in a company scans its rows. Each later one builds the index of the first part that has none, if it gets
 * that far, and scans the other parts without an index.
 */
function newestOfCompany(snapshot: Snapshot, cohort: Cohort, filter: RowFilter, limit: number): number[] {
  if (cohort.rows.length <= PART_ROWS_MAX) {
    const { rows } = cohort;
    return new RowScan(snapshot, filter, rows.length).matchesAmong(rows, limit).map((index) => rows[index]!);
  }
  const newest: number[] = [];
  let scan: RowScan | undefined;
  let mayBuild = cohort.wasSearched;
  cohort.wasSearched = true;
  for (const part of cohort.parts) {
    if (newest.length === limit) break;
    const isBuilt = part.isIndexedFor(filter);
    if ((isBuilt || mayBuild) && selectByIndex(part, filter, limit - newest.length)) {
      newest.push(...part.newestMatches(limit - newest.length));
    } else {
      scan ??= new RowScan(snapshot, filter, cohort.rows.length);
      for (const index of scan.matchesAmong(part.rows, limit - newest.length)) newest.push(part.rows[index]!);
    }
    if (!isBuilt) mayBuild = false;
  }
  return newest;
}
