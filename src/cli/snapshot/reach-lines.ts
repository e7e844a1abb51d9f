/** How much of a catalogue can be reached, for people and for `--json`. */
import { quantity } from '../../base/grouped.ts';
import { percentOf, type Reach, reachAdvice } from '../../catalogue/questions/reach.ts';
import { jobs } from './left-out.ts';

/** Members of `--json`. Shares are 0 to 1. */
export interface ReachReport {
  readonly active: number;
  readonly with_domain: number;
  readonly domain_share: number;
  readonly cohort: number;
  readonly cohort_share: number;
  readonly observation_days: number;
}

export function reachReportOf(reach: Reach): ReachReport {
  return {
    active: reach.activeJobs,
    with_domain: reach.jobsWithDomain,
    domain_share: reach.domainShare,
    cohort: reach.cohortJobs,
    cohort_share: reach.cohortShare,
    observation_days: reach.observationDays,
  };
}

/** One line, without a line feed. */
export function reachText(reach: Reach): string {
  const { activeJobs, domainShare, cohortShare, observationDays } = reach;
  if (activeJobs === 0) return jobs(0); // of none there is no share
  return (
    `${jobs(activeJobs)}, ${percentOf(domainShare)} with a company's domain, ${percentOf(cohortShare)} in the cohort, ` +
    `last observed on ${quantity(observationDays, 'day')}`
  );
}

/** The line and the advice, each with its line feed. */
export function reachLines(reach: Reach): string {
  return [`reach: ${reachText(reach)}\n`, ...reachAdvice(reach).map((advice) => `-> ${advice}\n`)].join('');
}
