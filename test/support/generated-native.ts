/**
 * Catalogues of native records from a seed, which change from one build to the next: jobs come, go, close, change their order
 * and their texts. A job keeps its first observation, and a closed one its closing, so that their events stay the same.
 */
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { Job } from '../../src/catalogue/job.ts';
import { type CatalogueShape, generatedJobs, type SeededChance } from './generated-catalogue.ts';
import type { RecordedCatalogue } from './generated-history.ts';
import { nativeEvents } from './naive-data-api.ts';

const DAY_MS = 86_400_000;

/** Aliases: one that is a company's domain, one that two companies claim, and valid ones. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  'acme.com': ['acme.jobs', 'old-acme.example', 'shared.example'],
  'globex.io': ['globex.com', 'globex.jobs', 'shared.example'],
  'tokyo.co.jp': ['tokyo.example'],
};

/** A company has the aliases of all its jobs together, but not every job names them. */
function withAliases(jobs: readonly Job[]): Job[] {
  return jobs.map((job, i) => {
    const aliases = ALIASES[job.companyDomain ?? ''] ?? [];
    return { ...job, companyAliases: aliases.filter((_, place) => (i + place) % 2 === 0) as CompanyDomain[] };
  });
}

/** Too long for a cursor, and equal except for the last characters. */
const LONG_ID = `${'long/'.repeat(30)}\u{10400}`;
const LONG_SKILL = 'Experience with '.repeat(9);

/** Gives some jobs ids and skills that differ only at the end. */
function withLongTexts(chance: SeededChance, jobs: readonly Job[]): Job[] {
  return jobs.map((job) => ({
    ...job,
    id: chance.is(20) ? LONG_ID + job.id : job.id,
    skills: chance.is(20) ? [...job.skills, `${LONG_SKILL}${chance.below(40)}`] : job.skills,
  }));
}

export const nativeJobs = (chance: SeededChance, shape: CatalogueShape): Job[] =>
  withAliases(withLongTexts(chance, generatedJobs(chance, shape)));

export const recordedNative = (jobs: readonly Job[]): RecordedCatalogue => ({ jobs, events: nativeEvents(jobs) });

function laterForm(chance: SeededChance, job: Job, other: Job): Job {
  const { closedAtMs, firstObservedMs } = job;
  if (chance.is(15)) {
    const movedMs = job.lastObservedMs + chance.oneOf([-DAY_MS, -1, 1, DAY_MS, 3 * DAY_MS]);
    const lastObservedMs = Math.max(firstObservedMs, Math.min(movedMs, closedAtMs ?? movedMs));
    return { ...job, lastObservedMs };
  }
  if (chance.is(8) && closedAtMs === null) return { ...job, status: 'closed', closedAtMs: job.lastObservedMs };
  if (!chance.is(10)) return job;
  const { company, companyAliases = [], companyDomain } = other;
  return chance.is(50)
    ? { ...job, title: other.title, department: other.department, skills: other.skills }
    : { ...job, company, companyAliases, companyDomain };
}

/** The catalogue some time later. @param generation new for each, so that new jobs have new ids */
export function laterJobs(chance: SeededChance, jobs: readonly Job[], generation: number): Job[] {
  const added = nativeJobs(chance, { jobCount: 1 + Math.floor(jobs.length / 8), closedPercent: 20 });
  const kept = jobs.filter(() => !chance.is(10)).map((job) => laterForm(chance, job, chance.oneOf(jobs)));
  return chance.shuffled([...kept, ...added.map((job) => ({ ...job, id: `${job.id}/${generation}` }))]);
}
