/** Facts for the example answers of the jobs routes: one time and one company, both invented. */
import { isoTime } from '../../base/iso-time.ts';
import type { CohortFacts } from '../../catalogue/cohort.ts';
import { observationPeriodEndingAt } from '../../catalogue/questions/period.ts';
import { periodOf } from './answer-period.ts';
import { type Meta, metaOf } from './envelope.ts';

const ANSWERED_MS = Date.UTC(2026, 10, 20, 12);
const OBSERVED_MS = Date.UTC(2026, 10, 20, 9, 30);
const FIRST_OBSERVED_MS = Date.UTC(2026, 9, 2, 8);

export const EXAMPLE_OBSERVED_AT = isoTime(OBSERVED_MS);
export const EXAMPLE_COMPANY = { name: 'Example', domain: 'example.com' } as const;
export const EXAMPLE_CLOSED_AT = isoTime(Date.UTC(2026, 10, 19, 6));
export const EXAMPLE_JOB = {
  id: 'ashby:example:7f3a',
  title: 'Senior Data Engineer',
  company: EXAMPLE_COMPANY.name,
  company_domain: EXAMPLE_COMPANY.domain,
  location: 'Berlin, Germany',
  remote_status: 'remote',
  employment_type: 'full_time',
  source_url: 'https://jobs.example.com/7f3a',
  last_observed_at: EXAMPLE_OBSERVED_AT,
} as const;
export const EXAMPLE_FIRST_OBSERVED_AT = isoTime(FIRST_OBSERVED_MS);
export const EXAMPLE_PERIOD = periodOf(observationPeriodEndingAt(ANSWERED_MS));

/** `meta` of an answer from a cohort of `candidateJobs` jobs, or of a search that as many match. */
export function exampleMeta(
  scope: CohortFacts['scope'],
  candidateJobs: number,
  { basis = 'cohort', history }: { readonly basis?: 'cohort' | 'matching jobs'; readonly history?: string } = {},
): Meta {
  const facts = {
    scope,
    sampled: false,
    candidateJobs,
    newestObservedMs: OBSERVED_MS,
    oldestObservedMs: FIRST_OBSERVED_MS,
  };
  const coverage =
    basis === 'cohort' ? { ...facts, basis, jobsWithoutDepartment: 0, assignedDomainJobs: 0 } : { ...facts, basis };
  return metaOf(
    { isSynthetic: false, catalogue: { snapshot: { facts: { skillsVersion: '1' } } } },
    coverage,
    EXAMPLE_PERIOD,
    history,
  );
}
