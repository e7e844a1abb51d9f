/** `meta` of the example answers of the jobs routes. */
import type { CohortFacts, JobFacts, SearchFacts } from '../../catalogue/cohort.ts';
import { EXAMPLE_FIRST_OBSERVED_MS, EXAMPLE_OBSERVED_MS, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { type Meta, metaOf } from './envelope.ts';

/** `meta` of an answer from a cohort of `candidateJobs` jobs, from a search that as many match, or of one job. */
export function exampleMeta(
  scope: CohortFacts['scope'],
  candidateJobs: number,
  {
    basis = 'cohort',
    history,
  }: { readonly basis?: (CohortFacts | SearchFacts | JobFacts)['basis']; readonly history?: string } = {},
): Meta {
  const coverage = {
    scope,
    basis,
    sampled: false,
    candidateJobs,
    newestObservedMs: EXAMPLE_OBSERVED_MS,
    oldestObservedMs: EXAMPLE_FIRST_OBSERVED_MS,
    jobsWithoutDepartment: 0,
    assignedDomainJobs: 0,
  };
  return metaOf(
    { isSynthetic: false, catalogue: { snapshot: { facts: { skillsVersion: '1' } } } },
    coverage,
    EXAMPLE_PERIOD,
    history,
  );
}
