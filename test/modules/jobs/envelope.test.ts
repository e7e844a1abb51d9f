/** What `meta` says about the candidates of an answer. */
import { expect, it } from 'vitest';
import type { CohortFacts, SearchFacts } from '../../../src/catalogue/cohort.ts';
import { COHORT_ROWS_MAX } from '../../../src/catalogue/limits.ts';
import { EXAMPLE_PERIOD } from '../../../src/modules/catalogue-examples.ts';
import { metaOf } from '../../../src/modules/jobs/envelope.ts';

const SERVED = { isSynthetic: false, catalogue: { snapshot: { facts: { skillsVersion: '1' } } } };

const facts = (basis: 'cohort' | 'matching jobs', sampled: boolean): CohortFacts | SearchFacts => ({
  ...{ basis, sampled, scope: 'monitored catalogue', candidateJobs: COHORT_ROWS_MAX },
  ...{ newestObservedMs: 1, oldestObservedMs: 0, jobsWithoutDepartment: 0, assignedDomainJobs: 0 },
});

it.each([
  ['cohort', /^The scope has more active jobs than the cohort of 10000: totals are null/],
  ['matching jobs', /^More than 10000 active jobs match: the candidates are the newest of them/],
] as const)('an answer from the %s says so where there are more candidates, and only there', (basis, sentence) => {
  for (const sampled of [false, true]) {
    const { coverage, limitations } = metaOf(SERVED, facts(basis, sampled), EXAMPLE_PERIOD);
    expect(coverage).toMatchObject({ sampled, candidate_jobs: 10_000, candidate_limit: 10_000 });
    expect(limitations.filter((one) => sentence.test(one))).toHaveLength(sampled ? 1 : 0);
  }
});
