/**
 * The catalogue's questions answered row by row, straight from decisions §3, over plain job records: slow, short, and
 * sharing only types with the engine. Tests judge the engine by it.
 */
import { createHash } from 'node:crypto';
import type { CohortFacts } from '../../src/catalogue/cohort.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../src/catalogue/job.ts';
import type { Changes } from '../../src/catalogue/questions/changes.ts';
import type { CohortFilters } from '../../src/catalogue/questions/cohort-rows.ts';
import type { CompanyActivity } from '../../src/catalogue/questions/company.ts';
import type { FoundJob } from '../../src/catalogue/questions/found-jobs.ts';
import type { Market } from '../../src/catalogue/questions/market.ts';
import type { ObservationPeriod } from '../../src/catalogue/questions/period.ts';
import type { SearchAnswer, SearchFilters } from '../../src/catalogue/questions/search.ts';
import type { CompanySignal, Signals } from '../../src/catalogue/questions/signals.ts';
import type { RequestedSkills } from '../../src/catalogue/questions/skills.ts';

const CANDIDATES = 10_000;

/** Memoized compared texts, because tests ask about the same jobs thousands of times. */
const remembered = new Map<string, string>();

export function asCompared(text: string): string {
  let compared = remembered.get(text);
  if (compared === undefined) {
    const letters = [...text.normalize('NFKD').toLowerCase().normalize('NFKD')];
    compared = letters
      .filter((letter) => letter < '\u0300' || letter > '\u036f')
      .join('')
      .normalize('NFKC')
      .split(/\s/u)
      .filter((part) => part.length > 0)
      .join(' ');
    remembered.set(text, compared);
  }
  return compared;
}

/** @returns whether each term of the filter is in one of the fields; the filter is split once, not for every row */
export function everyTermIn(filter: string | undefined): (fields: readonly (string | null)[]) => boolean {
  const terms = asCompared(filter ?? '')
    .split(' ')
    .filter((term) => term !== '');
  if (terms.length === 0) return () => true;
  return (fields) => {
    const texts = fields.filter((field) => field !== null).map(asCompared);
    return terms.every((term) => texts.some((text) => text.includes(term)));
  };
}

export function byCodeUnit(a: string, b: string): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

const digests = new Map<string, string>();

/** 64 hex digits, which sort as the bytes do. */
export function digestOf(id: string): string {
  let digest = digests.get(id);
  if (digest === undefined) {
    digest = createHash('sha256').update(id, 'utf8').digest('hex');
    digests.set(id, digest);
  }
  return digest;
}

/** Newest observation first, then by the SHA-256 of the id, then by id. */
export function newestFirst(a: Job, b: Job): number {
  return b.lastObservedMs - a.lastObservedMs || byCodeUnit(digestOf(a.id), digestOf(b.id)) || byCodeUnit(a.id, b.id);
}

/** Equal for jobs of the same company; the first letter distinguishes domains from names. */
export function identityOf(job: Job): string {
  return job.companyDomain === null ? `n${asCompared(job.company)}` : `d${job.companyDomain}`;
}

/** 100 * part / whole with two decimals, half away from zero, in whole numbers of any size. */
export function scored(part: number, whole: number): number {
  if (whole === 0) return 0;
  const doubled = 2n * 100n * 100n * BigInt(part);
  const hundredths = (doubled + BigInt(whole)) / (2n * BigInt(whole));
  return Number(`${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`);
}

export class NaiveCatalogue {
  /** Active, newest first. */
  readonly active: Job[];
  readonly closed: Job[];

  constructor(jobs: readonly Job[]) {
    this.active = jobs.filter((job) => job.status === 'active').sort(newestFirst);
    this.closed = jobs.filter((job) => job.status === 'closed').sort(newestFirst);
  }

  search(filters: SearchFilters, limit: number): SearchAnswer {
    const { company } = filters;
    const scope = company === undefined ? this.active : this.active.filter((job) => job.companyDomain === company);
    const hasKeyword = everyTermIn(filters.keyword);
    const hasLocation = everyTermIn(filters.location);
    const matching = scope.filter(
      (job) =>
        hasKeyword([job.title, job.company, job.department, ...job.skills]) &&
        hasLocation([job.location]) &&
        (filters.remote === undefined || job.remoteStatus === (filters.remote ? 'remote' : 'on_site')) &&
        (filters.employmentType === undefined || job.employmentType === filters.employmentType),
    );
    return {
      coverage: {
        basis: 'matching jobs',
        scope: company === undefined ? 'monitored catalogue' : 'requested company',
        sampled: matching.length > CANDIDATES,
        candidateJobs: Math.min(matching.length, CANDIDATES),
        newestObservedMs: scope[0]?.lastObservedMs ?? null,
        oldestObservedMs: scope.at(-1)?.lastObservedMs ?? null,
      },
      jobs: matching.slice(0, limit).map(foundJobOf),
    };
  }

  company(domain: string): CompanyActivity | undefined {
    const scope = this.active.filter((job) => job.companyDomain === domain);
    const known = scope[0] ?? this.closed.find((job) => job.companyDomain === domain);
    if (known === undefined) return undefined;
    const candidates = scope.slice(0, CANDIDATES);
    const cohort = factsOf(scope, 'requested company');
    const engineering = candidates.filter(
      (job) => job.department !== null && asCompared(job.department).includes('engineering'),
    ).length;
    const departments = topOf(candidates.flatMap((job) => (job.department === null ? [] : [job.department])));
    const skills = topOf(candidates.flatMap((job) => job.skills));
    return {
      cohort,
      company: { name: known.company, domain },
      activeJobCount: cohort.sampled ? null : candidates.length,
      observedSampleJobs: candidates.length,
      engineeringJobsInSample: engineering,
      engineeringJobCount: cohort.sampled ? null : engineering,
      topDepartments: departments.map(([department, jobCount]) => ({ department, jobCount })),
      topSkills: skills.map(([skill, jobCount]) => ({ skill, jobCount })),
      lastObservedMs: cohort.newestObservedMs,
    };
  }

  signals(filters: CohortFilters, limit: number, period: ObservationPeriod): Signals {
    const cohort = factsOf(this.active, 'monitored catalogue');
    const matching = matchingAmong(this.active.slice(0, CANDIDATES), filters);
    const groups = Map.groupBy(matching, identityOf);
    const inside = insideOf(period);
    const entries = [...groups].map(([identity, jobs]): { identity: string; signal: CompanySignal } => {
      const recent = jobs.filter((job) => inside(job.lastObservedMs)).length;
      return {
        identity,
        signal: {
          company: { name: this.shownName(identity), domain: jobs[0]!.companyDomain },
          activeJobs: cohort.sampled ? null : jobs.length,
          observedSampleJobs: jobs.length,
          recentlyObservedJobs: recent,
          firstObservedJobs: jobs.filter((job) => inside(job.firstObservedMs)).length,
          score: scored(recent, jobs.length),
          lastObservedMs: Math.max(...jobs.map((job) => job.lastObservedMs)),
        },
      };
    });
    entries.sort(
      (a, b) =>
        b.signal.recentlyObservedJobs - a.signal.recentlyObservedJobs ||
        b.signal.score - a.signal.score ||
        b.signal.lastObservedMs! - a.signal.lastObservedMs! ||
        byCodeUnit(a.identity.slice(1), b.identity.slice(1)) ||
        byCodeUnit(a.identity, b.identity),
    );
    return {
      cohort,
      companies: entries.slice(0, limit).map(({ signal }) => signal),
      matchingActiveJobs: cohort.sampled ? null : matching.length,
      observedSampleJobs: matching.length,
    };
  }

  /** Active and closed jobs of a question's scope, or undefined for a company that the catalogue does not have. */
  private scopeOf(company: string | undefined): { active: Job[]; closed: Job[]; cohort: CohortFacts } | undefined {
    if (company === undefined) {
      return { active: this.active, closed: this.closed, cohort: factsOf(this.active, 'monitored catalogue') };
    }
    const active = this.active.filter((job) => job.companyDomain === company);
    const closed = this.closed.filter((job) => job.companyDomain === company);
    if (active.length + closed.length === 0) return undefined;
    return { active, closed, cohort: factsOf(active, 'requested company') };
  }

  skills(company: string | undefined, filters: CohortFilters, limit: number): RequestedSkills | undefined {
    const scope = this.scopeOf(company);
    if (scope === undefined) return undefined;
    const matching = matchingAmong(scope.active.slice(0, CANDIDATES), filters);
    return {
      cohort: scope.cohort,
      skills: topOf(
        matching.flatMap((job) => job.skills),
        limit,
      ).map(([skill, jobCount]) => ({ skill, jobCount })),
      observedSampleJobs: matching.length,
      matchingActiveJobs: scope.cohort.sampled ? null : matching.length,
    };
  }

  changes(
    company: string | undefined,
    filters: CohortFilters,
    limit: number,
    period: ObservationPeriod,
  ): Changes | undefined {
    const scope = this.scopeOf(company);
    if (scope === undefined) return undefined;
    const inside = insideOf(period);
    const opened = matchingAmong(scope.active.slice(0, CANDIDATES), filters)
      .filter((job) => inside(job.firstObservedMs))
      .sort((a, b) => b.firstObservedMs - a.firstObservedMs || byCodeUnit(a.id, b.id));
    const closings = scope.closed
      .filter((job) => inside(job.closedAtMs!))
      .sort((a, b) => b.closedAtMs! - a.closedAtMs! || byCodeUnit(a.id, b.id));
    const closed = matchingAmong(closings.slice(0, CANDIDATES), filters);
    return {
      cohort: scope.cohort,
      firstObserved: opened.slice(0, limit).map(foundJobOf),
      noLongerObserved: closed.slice(0, limit).map((job) => ({ ...foundJobOf(job), closedAtMs: job.closedAtMs! })),
      firstObservedJobs: scope.cohort.sampled ? null : opened.length,
      noLongerObservedJobs: closings.length > CANDIDATES ? null : closed.length,
    };
  }

  market(filters: CohortFilters, period: ObservationPeriod): Market {
    const cohort = factsOf(this.active, 'monitored catalogue');
    const matching = matchingAmong(this.active.slice(0, CANDIDATES), filters);
    const inside = insideOf(period);
    const shown = (textOf: (job: Job) => string | null): [string, number][] => {
      const recorded = matching.filter((job) => textOf(job) !== null);
      // Jobs are newest first, so the first one of a group is its newest.
      const groups = Map.groupBy(recorded, (job) => asCompared(textOf(job)!));
      return ranked([...groups.values()].map((jobs) => [textOf(jobs[0]!)!, jobs.length]));
    };
    return {
      cohort,
      matchingActiveJobs: cohort.sampled ? null : matching.length,
      observedSampleJobs: matching.length,
      companiesInSample: new Set(matching.map(identityOf)).size,
      recentlyObservedJobs: matching.filter((job) => inside(job.lastObservedMs)).length,
      firstObservedJobs: matching.filter((job) => inside(job.firstObservedMs)).length,
      byDepartment: shown((job) => job.department).map(([department, jobCount]) => ({ department, jobCount })),
      byLocation: shown((job) => job.location).map(([location, jobCount]) => ({ location, jobCount })),
      byRemoteStatus: REMOTE_STATUSES.map((remoteStatus) => ({
        remoteStatus,
        jobCount: matching.filter((job) => job.remoteStatus === remoteStatus).length,
      })),
      byEmploymentType: EMPLOYMENT_TYPES.map((employmentType) => ({
        employmentType,
        jobCount: matching.filter((job) => job.employmentType === employmentType).length,
      })),
    };
  }

  readonly #jobs = new Map<string, Job>();

  job(id: string): Job | undefined {
    if (this.#jobs.size === 0) for (const job of [...this.active, ...this.closed]) this.#jobs.set(job.id, job);
    return this.#jobs.get(id);
  }

  readonly #shownNames = new Map<string, string>();

  private shownName(identity: string): string {
    if (this.#shownNames.size === 0) {
      for (const job of [...this.active, ...this.closed]) {
        const of = identityOf(job);
        if (!this.#shownNames.has(of)) this.#shownNames.set(of, job.company);
      }
    }
    return this.#shownNames.get(identity)!;
  }
}

function factsOf(scope: Job[], name: CohortFacts['scope']): CohortFacts {
  const candidates = scope.slice(0, CANDIDATES);
  return {
    scope: name,
    basis: 'cohort',
    sampled: scope.length > CANDIDATES,
    candidateJobs: candidates.length,
    newestObservedMs: candidates[0]?.lastObservedMs ?? null,
    oldestObservedMs: candidates.at(-1)?.lastObservedMs ?? null,
    jobsWithoutDepartment: candidates.filter((job) => job.department === null).length,
    assignedDomainJobs: candidates.filter(({ companyDomainEvidence: evidence }) =>
      ['directory', 'site', 'links', 'namesake'].includes(evidence ?? 'source'),
    ).length,
  };
}

export const insideOf =
  ({ endMs, startMs }: ObservationPeriod) =>
  (timeMs: number): boolean =>
    timeMs >= startMs && timeMs <= endMs;

function matchingAmong(jobs: Job[], { department, location, role }: CohortFilters): Job[] {
  const hasRole = everyTermIn(role);
  const hasLocation = everyTermIn(location);
  return jobs.filter(
    (job) =>
      hasRole([job.title]) &&
      hasLocation([job.location]) &&
      (department === undefined || (job.department !== null && asCompared(job.department) === asCompared(department))),
  );
}

const foundJobOf = (job: Job): FoundJob => ({
  id: job.id,
  title: job.title,
  company: job.company,
  companyDomain: job.companyDomain,
  location: job.location,
  remoteStatus: job.remoteStatus,
  employmentType: job.employmentType,
  sourceUrl: job.sourceUrl,
  lastObservedMs: job.lastObservedMs,
});

export const ranked = (counted: [string, number][], limit = 10): [string, number][] =>
  counted.sort((a, b) => b[1] - a[1] || byCodeUnit(a[0], b[0])).slice(0, limit);

export function topOf(texts: string[], limit = 10): [string, number][] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return ranked([...counts], limit);
}
