/** The search question (specification, "GET /v1/jobs/search"): matching jobs, newest observation first. */
import type { Catalogue } from './catalogue.ts';
import type { Cohort, CohortFacts } from './cohort.ts';
import type { CompanyDomain } from './company-domain.ts';
import type { FoundJob } from './found-job.ts';
import type { EmploymentType } from './job.ts';
import { isUnfiltered, isWorthAnIndex, select, wantedOf } from './select.ts';

export type { FoundJob } from './found-job.ts';

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
  const cohort = cohortFor(catalogue, filters.company);
  const positions = firstPositions(catalogue, cohort, filters, limit);
  return { cohort: cohort.facts, jobs: cohort.foundJobsAt(positions) };
}

function cohortFor(catalogue: Catalogue, domain: CompanyDomain | undefined): Cohort {
  if (domain === undefined) return catalogue.cohort;
  const company = catalogue.snapshot.companyOf(domain);
  return company === undefined ? catalogue.unknownCompanyCohort() : catalogue.cohortOf(company);
}

function firstPositions(catalogue: Catalogue, cohort: Cohort, filters: SearchFilters, limit: number): number[] {
  const wanted = wantedOf(filters);
  if (isUnfiltered(wanted)) return cohort.newest(limit);
  const indexed = cohort === catalogue.cohort || isWorthAnIndex(cohort);
  select(cohort, wanted, indexed, limit);
  return cohort.newestMatches(limit);
}
