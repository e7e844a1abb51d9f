/** The signals question (specification, "GET /v1/jobs/signals"): companies with evidence of hiring activity. */
import type { Catalogue } from '../catalogue.ts';
import type { CohortFacts } from '../cohort.ts';
import { isUnfiltered, rowFilterOf } from '../index/row-filter.ts';
import { select } from '../index/select.ts';
import type { CohortFilters } from './cohort-rows.ts';
import type { ObservationPeriod } from './period.ts';
import { scoreOf } from './score.ts';

export interface CompanySignal {
  readonly company: { readonly name: string; readonly domain: string | null };
  /** `null` when the cohort is a sample. */
  readonly activeJobs: number | null;
  /** Matching jobs of the company in the cohort. */
  readonly observedSampleJobs: number;
  /** Of those: last observed inside the period. */
  readonly recentlyObservedJobs: number;
  /** Of those: first observed inside the period. */
  readonly firstObservedJobs: number;
  /** 0 .. 100, two decimals. */
  readonly score: number;
  /** Newest last observation of the matching jobs, milliseconds. */
  readonly lastObservedMs: number | null;
}

export interface Signals {
  readonly cohort: CohortFacts;
  readonly companies: CompanySignal[];
  /** `null` when the cohort is a sample. */
  readonly matchingActiveJobs: number | null;
  /** Matching jobs of the cohort, including those of companies that are not shown. */
  readonly observedSampleJobs: number;
}

/** The first `limit` companies in the order of decisions §3, "Signals". */
export function signals(
  catalogue: Catalogue,
  filters: CohortFilters,
  limit: number,
  period: ObservationPeriod,
): Signals {
  const { byCompany, cohort, ranking } = catalogue;
  const filter = rowFilterOf(filters);
  const isFiltered = !isUnfiltered(filter);
  if (isFiltered) select(byCompany, filter, byCompany.rows.length);
  const { companies, matchingJobs } = ranking.rank(isFiltered ? byCompany.matches : undefined, period, limit);
  const { sampled } = cohort.facts;
  return {
    cohort: cohort.facts,
    companies: companies.map(({ domain, firstObserved, lastObservedMs, name, observed, recent, scoreHundredths }) => ({
      company: { name, domain },
      activeJobs: sampled ? null : observed,
      observedSampleJobs: observed,
      recentlyObservedJobs: recent,
      firstObservedJobs: firstObserved,
      score: scoreOf(scoreHundredths),
      lastObservedMs,
    })),
    matchingActiveJobs: sampled ? null : matchingJobs,
    observedSampleJobs: matchingJobs,
  };
}
