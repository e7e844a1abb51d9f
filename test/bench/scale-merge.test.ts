/** A catalogue in shards, put together, gives the answers of one catalogue (docs/scale-model.md), with the engine on both sides. */
import { describe, expect, it } from 'vitest';
import { cohortCounts, mergeSearch, mergeSignals, mergeSkills } from '../../bench/scale/merge.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { parseCompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { Job } from '../../src/catalogue/job.ts';
import type { CohortFilters } from '../../src/catalogue/questions/cohort-rows.ts';
import { companyActivity } from '../../src/catalogue/questions/company.ts';
import type { FoundJob } from '../../src/catalogue/questions/found-jobs.ts';
import { observationPeriodEndingAt } from '../../src/catalogue/questions/period.ts';
import { search } from '../../src/catalogue/questions/search.ts';
import { signals } from '../../src/catalogue/questions/signals.ts';
import { requestedSkills } from '../../src/catalogue/questions/skills.ts';
import { minimalJob } from '../support/minimal-job.ts';
import { byCodeUnit, digestOf, newestFirst } from '../support/naive-catalogue.ts';
import { openedJobs } from '../support/opened-jobs.ts';

const NOW_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const WORDS = ['data', 'engineer', 'nurse', 'sales', 'senior', 'rust', 'berlin', 'remote'];
const SKILLS = ['sql', 'python', 'rust', 'excel', 'go', 'java', 'css', 'bash', 'aws', 'spark', 'kafka', 'scala'];
const EVERY_SKILL = 1000;

/** More active jobs than a cohort holds, when `count` is above it; few companies and times, so that there are many ties. */
function jobsOf(count: number, seed: number): Job[] {
  const random = new SeededRandom(seed);
  const below = (bound: number): number => random.bits() % bound;
  const oneOf = (words: readonly string[]): string => words[below(words.length)]!;
  return Array.from({ length: count }, (_, i) => {
    const company = below(120);
    const lastObservedMs = NOW_MS - below(400) * HOUR_MS;
    return minimalJob({
      id: `job-${seed}-${i}`,
      title: `${oneOf(WORDS)} ${oneOf(WORDS)}`,
      company: `Company ${company}`,
      companyDomain: company % 5 === 0 ? null : parseCompanyDomain(`company-${company}.example`)!,
      location: below(4) === 0 ? null : oneOf(WORDS),
      department: below(3) === 0 ? null : oneOf(['Engineering', 'Sales', 'Care']),
      skills: [...new Set([oneOf(SKILLS), oneOf(SKILLS)])],
      lastObservedMs,
      firstObservedMs: lastObservedMs - below(300) * HOUR_MS,
    });
  });
}

/** A company is in one shard whole. */
const shardOf = ({ companyDomain, company }: Job, count: number): number =>
  Number.parseInt(digestOf(companyDomain ?? company).slice(0, 8), 16) % count;

const shownOrder = (a: FoundJob, b: FoundJob): number =>
  b.lastObservedMs - a.lastObservedMs || byCodeUnit(digestOf(a.id), digestOf(b.id)) || byCodeUnit(a.id, b.id);

const FILTERS: readonly CohortFilters[] = [
  {},
  { role: 'engineer' },
  { role: 'data', location: 'berlin' },
  { department: 'sales' },
  { role: 'nothing has this' },
];

describe.each([
  [2, 300, 1],
  [5, 2_000, 2],
  [7, 12_500, 3],
])('%i shards of %i jobs', (count, jobCount, seed) => {
  const jobs = jobsOf(jobCount, seed).sort(newestFirst);
  const whole = new Catalogue(openedJobs(jobs));
  const shards = Array.from({ length: count }, (_, i) => jobs.filter((job) => shardOf(job, count) === i));
  const counts = cohortCounts(shards, newestFirst);
  // Each shard's part of the union's cohort, which every jobs service holds; and whole shards, for search and companies.
  const parts = shards.map((shard, i) => new Catalogue(openedJobs(shard.slice(0, counts[i]))));
  const wholeShards = shards.map((shard) => new Catalogue(openedJobs(shard)));
  const period = observationPeriodEndingAt(NOW_MS);

  it('have the cohort of one catalogue', () => {
    const cohort = shards.flatMap((shard, i) => shard.slice(0, counts[i])).sort(newestFirst);
    expect(cohort.map(({ id }) => id)).toEqual(jobs.slice(0, 10_000).map(({ id }) => id));
  });

  it.each(FILTERS)('answer signals and skills as one catalogue does: %j', (filters) => {
    const bySignals = parts.map((part) => signals(part, filters, 5, period));
    expect(mergeSignals(bySignals, 5, jobs.length)).toEqual(signals(whole, filters, 5, period));
    const bySkills = parts.map((part) => requestedSkills(part, undefined, filters, EVERY_SKILL)!);
    expect(mergeSkills(bySkills, 10, jobs.length)).toEqual(requestedSkills(whole, undefined, filters, 10));
  });

  it.each([{}, { keyword: 'engineer' }, { keyword: 'sql rust' }, { location: 'berlin', keyword: 'nurse' }])(
    'answer search as one catalogue does: %j',
    (filters) => {
      const answers = wholeShards.map((shard) => search(shard, filters, 10));
      expect(mergeSearch(answers, 10, shownOrder)).toEqual(search(whole, filters, 10));
    },
  );

  it('answer about a company from the one shard that has it', () => {
    const { companyDomain } = jobs.find((job) => job.companyDomain !== null)!;
    const domain = parseCompanyDomain(companyDomain!)!;
    const answers = wholeShards.map((shard) => companyActivity(shard, domain)).filter((one) => one !== undefined);
    expect(answers).toEqual([companyActivity(whole, domain)]);
  });
});

it('skills that only their ten first were merged of would be wrong', () => {
  const jobs = jobsOf(2_000, 9);
  const shards = [0, 1].map((i) => new Catalogue(openedJobs(jobs.filter((job) => shardOf(job, 2) === i))));
  const cut = shards.map((shard) => requestedSkills(shard, undefined, {}, 2)!);
  const whole = shards.map((shard) => requestedSkills(shard, undefined, {}, EVERY_SKILL)!);
  expect(mergeSkills(cut, 10, jobs.length).skills).not.toEqual(mergeSkills(whole, 10, jobs.length).skills);
});
