/** The limitation that says for how many jobs of a cohort the company's domain was assigned, not stated (decisions §8). */
import { grouped } from '../../base/grouped.ts';
import type { CohortFacts, JobFacts } from '../../catalogue/cohort.ts';

/** None if every domain was stated by the operator or by the job's own source. */
export function assignedDomainLimitation({
  assignedDomainJobs,
  candidateJobs,
}: CohortFacts | JobFacts): readonly string[] {
  if (assignedDomainJobs === 0) return [];
  return [
    `For ${grouped(assignedDomainJobs)} of the ${grouped(candidateJobs)} jobs of the cohort the company's domain was assigned by ` +
      'the catalogue (from a directory, the addresses of the postings, their links, or a namesake); their source does not state it.',
  ];
}
