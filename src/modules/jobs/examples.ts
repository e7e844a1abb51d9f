/** `meta` of the example answers of the jobs routes. */
import type { CohortFacts } from '../../catalogue/cohort.ts';
import { EXAMPLE_FIRST_OBSERVED_MS, EXAMPLE_OBSERVED_MS, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { type Meta, metaOf } from './envelope.ts';

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
    newestObservedMs: EXAMPLE_OBSERVED_MS,
    oldestObservedMs: EXAMPLE_FIRST_OBSERVED_MS,
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
