/** The search question (specification, "GET /v1/jobs/search"): matching jobs, newest observation first. */
import type { Catalogue } from '../catalogue.ts';
import type { Cohort, CohortFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { isUnfiltered, type RowFilter, wantedOf } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import { select, selectByIndex } from '../index/select.ts';
import type { EmploymentType } from '../job.ts';
import { PART_ROWS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { FoundJob } from './found-jobs.ts';

export type { FoundJob } from './found-jobs.ts';

/** Filters as they were written; each text of at most eight terms. */
export interface SearchFilters {
  keyword?: string | undefined;
  location?: string | undefined;
  company?: CompanyDomain | undefined;
  /** `true` = remote, `false` = on site. */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
}

/**
 * The first `limit` matching jobs of the cohort, which is the company's when one is given. A company that the
 * catalogue does not have is an empty cohort.
 * throws  SnapshotChangedError when the snapshot's file was altered in place
 */
export function search(
  catalogue: Catalogue,
  filters: SearchFilters,
  limit: number,
): { cohort: CohortFacts; jobs: FoundJob[] } {
  const { foundJobs, snapshot } = catalogue;
  const wanted = wantedOf(filters);
  if (filters.company === undefined) {
    return { cohort: catalogue.cohort.facts, jobs: foundJobs.at(newestOfCatalogue(catalogue, wanted, limit)) };
  }
  const company = snapshot.companyOf(filters.company);
  const cohort = company === undefined ? catalogue.unknownCompanyCohort() : catalogue.cohortOf(company);
  return { cohort: cohort.facts, jobs: foundJobs.at(newestOfCompany(snapshot, cohort, wanted, limit)) };
}

function newestOfCatalogue({ newestFirst }: Catalogue, wanted: RowFilter, limit: number): number[] {
  if (isUnfiltered(wanted)) newestFirst.matches.startWithAll();
  else select(newestFirst, wanted, limit);
  return newestFirst.newestMatches(limit);
}

/**
 * The first search in a company goes from row to row. Each later one makes the index of one part that has none, if it
 * comes to such a part, and goes from row to row in the others.
 */
function newestOfCompany(snapshot: Snapshot, cohort: Cohort, wanted: RowFilter, limit: number): number[] {
  if (cohort.rows.length <= PART_ROWS_MAX) {
    const { rows } = cohort;
    return new RowScan(snapshot, wanted, rows.length).matchesAmong(rows, limit).map((place) => rows[place]!);
  }
  const newest: number[] = [];
  let scan: RowScan | undefined;
  let mayBuild = cohort.wasSearched;
  cohort.wasSearched = true;
  for (const part of cohort.parts) {
    if (newest.length === limit) break;
    const isBuilt = part.isIndexedFor(wanted);
    if ((isBuilt || mayBuild) && selectByIndex(part, wanted, limit - newest.length)) {
      newest.push(...part.newestMatches(limit - newest.length));
    } else {
      scan ??= new RowScan(snapshot, wanted, cohort.rows.length);
      for (const place of scan.matchesAmong(part.rows, limit - newest.length)) newest.push(part.rows[place]!);
    }
    if (!isBuilt) mayBuild = false;
  }
  return newest;
}
