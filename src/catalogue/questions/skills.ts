/** The skills question (siblings §2): the most requested skills of the matching jobs. */
import type { Catalogue } from '../catalogue.ts';
import type { CohortFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { rowFilterOf } from '../index/row-filter.ts';
import { type CohortFilters, matchingRows } from './cohort-rows.ts';
import { mostFrequent } from './top-codes.ts';

export interface RequestedSkills {
  readonly cohort: CohortFacts;
  /** Count descending, then text ascending by code unit. */
  readonly skills: { readonly skill: string; readonly jobCount: number }[];
  /** Matching jobs of the cohort. */
  readonly observedSampleJobs: number;
  /** `null` when the cohort is a sample. */
  readonly matchingActiveJobs: number | null;
}

/** `undefined` when the question names a company that no job, active or closed, has. */
export function requestedSkills(
  catalogue: Catalogue,
  company: CompanyDomain | undefined,
  filters: CohortFilters,
  limit: number,
): RequestedSkills | undefined {
  const { skillCounts, snapshot } = catalogue;
  const cohort = catalogue.cohortNamed(company);
  if (cohort === undefined) return undefined;
  const rows = matchingRows(catalogue, cohort, rowFilterOf(filters));
  skillCounts.addAllOf(rows, snapshot.skillOffsets, snapshot.skills);
  return {
    cohort: cohort.facts,
    skills: mostFrequent(skillCounts.take(), limit).map(({ code, count }) => ({
      skill: snapshot.skillNames.textOf(code),
      jobCount: count,
    })),
    observedSampleJobs: rows.length,
    matchingActiveJobs: cohort.facts.sampled ? null : rows.length,
  };
}
