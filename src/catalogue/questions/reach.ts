/**
 * How much of a catalogue its buyers can reach (decisions §8): by the domain of a company, and inside the cohort that the
 * aggregates count over.
 */
import { DAY_MS } from '../../base/durations.ts';
import { memoizeByObject } from '../../base/memoize-by-object.ts';
import { COHORT_ROWS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

export interface Reach {
  readonly activeJobs: number;
  /** Active jobs whose company has a domain and so can be asked for. */
  readonly jobsWithDomain: number;
  /** Of the active jobs, 0 to 1; 1 when there are none. */
  readonly domainShare: number;
  readonly cohortJobs: number;
  readonly cohortShare: number;
  /** UTC days on which the active jobs were last observed. */
  readonly observationDays: number;
}

/** Below this share most of the catalogue cannot be asked for by company. */
export const DOMAIN_SHARE_MIN = 0.5;

export type ReachSubject = Pick<
  Snapshot,
  'activeCount' | 'companyHasDomain' | 'employer' | 'employerCompany' | 'lastObserved'
>;

/** One pass over two columns, at the first call for a snapshot. */
export const reachOf = memoizeByObject((snapshot: ReachSubject): Reach => {
  const { activeCount, companyHasDomain, employer, employerCompany, lastObserved } = snapshot;
  let jobsWithDomain = 0;
  let observationDays = 0;
  let dayBefore = Number.NaN;
  // Active rows come newest first, so each day is one run.
  for (let row = 0; row < activeCount; row++) {
    jobsWithDomain += companyHasDomain[employerCompany[employer[row]!]!]!;
    const day = Math.floor(lastObserved[row]! / DAY_MS);
    if (day !== dayBefore) observationDays++;
    dayBefore = day;
  }
  const cohortJobs = Math.min(activeCount, COHORT_ROWS_MAX);
  const shareOf = (jobs: number): number => (activeCount === 0 ? 1 : jobs / activeCount);
  return {
    activeJobs: activeCount,
    jobsWithDomain,
    domainShare: shareOf(jobsWithDomain),
    cohortJobs,
    cohortShare: shareOf(cohortJobs),
    observationDays,
  };
});

/** `62.4 %`; never rounded up to 100 %. */
export function percentOf(share: number): string {
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

/** Advice about a catalogue with low reach: one sentence each, without a full stop; none when all is well. */
export function reachAdvice({ activeJobs, domainShare, cohortShare, observationDays }: Reach): string[] {
  if (activeJobs === 0) return [];
  const advice: string[] = [];
  if (domainShare < DOMAIN_SHARE_MIN) {
    advice.push(
      'buyers ask for a company by its domain: give native lines a `company_domain`; in a catalogue folder `companies --missing` ' +
        'lists the companies without one, and `companies set` and `companies import` state it for the next `snapshot build`',
    );
  }
  if (cohortShare < DOMAIN_SHARE_MIN) {
    advice.push(
      `signals and other aggregates count over the ${COHORT_ROWS_MAX} most recently observed jobs: sell one region or field, ` +
        'or point buyers to questions about one company and to search, which reach every job',
    );
  }
  if (cohortShare < DOMAIN_SHARE_MIN && observationDays === 1) {
    advice.push(
      'all jobs were last observed on one day, so the cohort is a draw among equals: import each file at its own time',
    );
  }
  return advice;
}
