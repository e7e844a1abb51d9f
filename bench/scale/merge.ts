/**
 * Answers over a catalogue that is split into shards by company: what each shard computes, and how a gate merges it.
 * The cohort is that of the union: each shard holds its part of the 10,000 newest jobs, which is the beginning of its
 * own order, so the counts of the shards add up to those of one catalogue.
 */
import type { CohortFacts } from '../../src/catalogue/cohort.ts';
import { COHORT_ROWS_MAX } from '../../src/catalogue/limits.ts';
import type { FoundJob } from '../../src/catalogue/questions/found-jobs.ts';
import type { SearchAnswer } from '../../src/catalogue/questions/search.ts';
import type { CompanySignal, Signals } from '../../src/catalogue/questions/signals.ts';
import type { RequestedSkills } from '../../src/catalogue/questions/skills.ts';
import { comparedText } from '../../src/catalogue/terms.ts';

/** The order of jobs (decisions §3): negative when `a` comes first. */
export type Order<Job> = (a: Job, b: Job) => number;

/**
 * How many jobs of each shard are in the cohort of the union.
 * @param shards each in the order of jobs
 */
export function cohortCounts<Job>(
  shards: readonly (readonly Job[])[],
  order: Order<Job>,
  limit = COHORT_ROWS_MAX,
): number[] {
  const counts = shards.map(() => 0);
  for (let taken = 0; taken < limit; taken++) {
    let first: number | undefined;
    for (const [i, shard] of shards.entries()) {
      const next = shard[counts[i]!];
      if (next === undefined) continue;
      if (first === undefined || order(next, shards[first]![counts[first]!]!) < 0) first = i;
    }
    if (first === undefined) break;
    counts[first]!++;
  }
  return counts;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const newestOf = (times: readonly (number | null)[]): number | null =>
  times.reduce((newest, one) => (one !== null && (newest === null || one > newest) ? one : newest), null);
const oldestOf = (times: readonly (number | null)[]): number | null =>
  times.reduce((oldest, one) => (one !== null && (oldest === null || one < oldest) ? one : oldest), null);

/** @param activeJobs of the union: whether there are more than the cohort holds */
function mergeCohorts(cohorts: readonly CohortFacts[], activeJobs: number): CohortFacts {
  return {
    ...cohorts[0]!,
    sampled: activeJobs > COHORT_ROWS_MAX,
    candidateJobs: sum(cohorts.map(({ candidateJobs }) => candidateJobs)),
    newestObservedMs: newestOf(cohorts.map(({ newestObservedMs }) => newestObservedMs)),
    oldestObservedMs: oldestOf(cohorts.map(({ oldestObservedMs }) => oldestObservedMs)),
    jobsWithoutDepartment: sum(cohorts.map(({ jobsWithoutDepartment }) => jobsWithoutDepartment)),
    assignedDomainJobs: sum(cohorts.map(({ assignedDomainJobs }) => assignedDomainJobs)),
  };
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The identity of a company (decisions §3): the domain, else the compared name. */
const identityOf = ({ company: { domain, name } }: CompanySignal): string => domain ?? comparedText(name);

/**
 * Signals: a company is entirely in one shard, so the top companies of the union are among the top companies of the shards.
 */
export function mergeSignals(parts: readonly Signals[], limit: number, activeJobs: number): Signals {
  const cohort = mergeCohorts(
    parts.map((part) => part.cohort),
    activeJobs,
  );
  const matching = sum(parts.map(({ observedSampleJobs }) => observedSampleJobs));
  const order = (a: CompanySignal, b: CompanySignal): number =>
    b.recentlyObservedJobs - a.recentlyObservedJobs ||
    b.score - a.score ||
    b.lastObservedMs! - a.lastObservedMs! ||
    byCodeUnit(identityOf(a), identityOf(b));
  const companies = parts
    .flatMap((part) => part.companies)
    .sort(order)
    .slice(0, limit)
    .map((signal) => ({ ...signal, activeJobs: cohort.sampled ? null : signal.observedSampleJobs }));
  return { cohort, companies, matchingActiveJobs: cohort.sampled ? null : matching, observedSampleJobs: matching };
}

/** Skills: each shard sends every count, because a skill that is tenth in the union may be first in none. */
export function mergeSkills(parts: readonly RequestedSkills[], limit: number, activeJobs: number): RequestedSkills {
  const cohort = mergeCohorts(
    parts.map((part) => part.cohort),
    activeJobs,
  );
  const counts = new Map<string, number>();
  for (const { skill, jobCount } of parts.flatMap(({ skills }) => skills)) {
    counts.set(skill, (counts.get(skill) ?? 0) + jobCount);
  }
  const matching = sum(parts.map(({ observedSampleJobs }) => observedSampleJobs));
  return {
    cohort,
    skills: [...counts]
      .map(([skill, jobCount]) => ({ skill, jobCount }))
      .sort((a, b) => b.jobCount - a.jobCount || byCodeUnit(a.skill, b.skill))
      .slice(0, limit),
    observedSampleJobs: matching,
    matchingActiveJobs: cohort.sampled ? null : matching,
  };
}

/** Search looks at whole shards. @param order of the jobs that a search shows */
export function mergeSearch(parts: readonly SearchAnswer[], limit: number, order: Order<FoundJob>): SearchAnswer {
  const coverages = parts.map(({ coverage }) => coverage);
  const candidates = sum(coverages.map(({ candidateJobs }) => candidateJobs));
  return {
    coverage: {
      ...coverages[0]!,
      sampled: coverages.some(({ sampled }) => sampled) || candidates > COHORT_ROWS_MAX,
      candidateJobs: Math.min(candidates, COHORT_ROWS_MAX),
      newestObservedMs: newestOf(coverages.map(({ newestObservedMs }) => newestObservedMs)),
      oldestObservedMs: oldestOf(coverages.map(({ oldestObservedMs }) => oldestObservedMs)),
    },
    jobs: parts
      .flatMap(({ jobs }) => jobs)
      .sort(order)
      .slice(0, limit),
  };
}
