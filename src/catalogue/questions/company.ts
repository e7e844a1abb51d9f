/** The company question (specification, "GET /v1/jobs/company"): one company's observed hiring activity. */
import type { Catalogue } from '../catalogue.ts';
import type { CohortFacts } from '../cohort.ts';
import type { CompanyDomain } from '../company-domain.ts';
import { TOP_ENTRIES_MAX } from '../limits.ts';
import { mostFrequent } from './top-codes.ts';

export interface CompanyActivity {
  readonly cohort: CohortFacts;
  readonly company: { readonly name: string; readonly domain: string | null };
  /** `null` when the cohort is a sample. */
  readonly activeJobCount: number | null;
  readonly observedSampleJobs: number;
  /** Jobs of the cohort whose recorded department contains `engineering`, in compared form. */
  readonly engineeringJobsInSample: number;
  /** `null` when the cohort is a sample. */
  readonly engineeringJobCount: number | null;
  /** At most ten, count descending, then text ascending by code unit; as recorded. */
  readonly topDepartments: readonly { readonly department: string; readonly jobCount: number }[];
  readonly topSkills: readonly { readonly skill: string; readonly jobCount: number }[];
  /** Newest last observation of the cohort, milliseconds; `null` when no job is active. */
  readonly lastObservedMs: number | null;
}

/** `undefined` when no job, active or closed, has the domain. */
export function companyActivity(catalogue: Catalogue, domain: CompanyDomain): CompanyActivity | undefined {
  const { snapshot } = catalogue;
  const company = snapshot.companyOf(domain);
  if (company === undefined) return undefined;
  const { facts, rows } = catalogue.cohortOf(company);
  const { departmentCounts, skillCounts } = catalogue;
  departmentCounts.addOf(rows, snapshot.department);
  skillCounts.addAllOf(rows, snapshot.skillOffsets, snapshot.skills);
  // Code 0 means that no department is recorded.
  const departments = departmentCounts.take().filter(({ code }) => code !== 0);
  let engineering = 0;
  for (const { code, count } of departments) if (catalogue.isEngineering(code)) engineering += count;
  return {
    cohort: facts,
    company: { name: snapshot.shownNameOf(company), domain: snapshot.domainOf(company) },
    activeJobCount: facts.sampled ? null : rows.length,
    observedSampleJobs: rows.length,
    engineeringJobsInSample: engineering,
    engineeringJobCount: facts.sampled ? null : engineering,
    topDepartments: mostFrequent(departments, TOP_ENTRIES_MAX).map(({ code, count }) => ({
      department: snapshot.departments.textOf(code),
      jobCount: count,
    })),
    topSkills: mostFrequent(skillCounts.take(), TOP_ENTRIES_MAX).map(({ code, count }) => ({
      skill: snapshot.skillNames.textOf(code),
      jobCount: count,
    })),
    lastObservedMs: facts.newestObservedMs,
  };
}
