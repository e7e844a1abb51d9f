/** The answers of the Jobs Data API that are one record: companies, metrics, and the two public ones (siblings §4). */
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../src/catalogue/job.ts';
import {
  asCompared,
  byCodeUnit,
  digestOf,
  everyTermIn,
  identityOf,
  insideOf,
  ranked,
  scored,
  topOf,
} from './naive-catalogue.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const written = new Map<number, string>();

/** Memoized, because the same records are shown thousands of times. */
export function dateTime(timeMs: number): string {
  let text = written.get(timeMs);
  if (text === undefined) {
    text = new Date(timeMs).toISOString();
    written.set(timeMs, text);
  }
  return text;
}
export const dateTimeOrNull = (timeMs: number | null): string | null => (timeMs === null ? null : dateTime(timeMs));

const DAY_MS = 86_400_000;
const POOL = 12;
const SAMPLES = 5;
const TOP = 10;

/** The jobs of the catalogue or of one company, each list newest first. */
export interface NaiveScope {
  readonly active: readonly Job[];
  readonly closed: readonly Job[];
}

type Answer = Readonly<Record<string, Json>>;

const allOf = ({ active, closed }: NaiveScope): readonly Job[] => [...active, ...closed];
const leastOf = (times: readonly number[]): number | null =>
  times.reduce<number | null>((least, time) => (least === null || time < least ? time : least), null);
const mostOf = (times: readonly number[]): number | null =>
  times.reduce<number | null>((most, time) => (most === null || time > most ? time : most), null);

/** First and last observation of active and closed jobs. */
const spanOf = (scope: NaiveScope): { readonly first_observed_at: Json; readonly last_observed_at: Json } => ({
  first_observed_at: dateTimeOrNull(leastOf(allOf(scope).map((job) => job.firstObservedMs))),
  last_observed_at: dateTimeOrNull(mostOf(allOf(scope).map((job) => job.lastObservedMs))),
});

/** The company of a scope with at least one job, named as on its newest active job, or else its newest closed one. */
export function shownCompany({ active, closed }: NaiveScope): {
  readonly name: string;
  readonly domain: string | null;
} {
  const job = active[0] ?? closed[0]!;
  return { name: job.company, domain: job.companyDomain };
}

/** Departments grouped by compared text and shown as on their newest job, as in `market`. */
function topDepartments(jobs: readonly Job[]): Json[] {
  const recorded = jobs.filter(({ department }) => department !== null);
  const groups = [...Map.groupBy(recorded, ({ department }) => asCompared(department!)).values()];
  return ranked(groups.map((group) => [group[0]!.department!, group.length])).map(([department, count]) => ({
    department,
    active_job_count: count,
  }));
}

export function companySummary(scope: NaiveScope): Answer {
  return {
    company: shownCompany(scope),
    active_job_count: scope.active.length,
    closed_job_count: scope.closed.length,
    departments: topDepartments(scope.active),
    ...spanOf(scope),
  };
}

const periodEndingAt = (nowMs: number): { readonly startMs: number; readonly endMs: number } => ({
  startMs: nowMs - 7 * DAY_MS,
  endMs: nowMs,
});

const shownPeriod = (nowMs: number): Answer => ({
  start: dateTime(nowMs - 7 * DAY_MS),
  end: dateTime(nowMs),
  days: 7,
});

/** Times of first observations and of closings inside the period. */
function movements(scope: NaiveScope, nowMs: number): { readonly opened: number[]; readonly closed: number[] } {
  const inside = insideOf(periodEndingAt(nowMs));
  return {
    opened: allOf(scope)
      .map((job) => job.firstObservedMs)
      .filter(inside),
    closed: scope.closed.map((job) => job.closedAtMs!).filter(inside),
  };
}

/** The paid company route's data over all jobs of the company, and the changes in the period. */
export function companyHiring(scope: NaiveScope, nowMs: number): Answer {
  const { active } = scope;
  const { opened, closed } = movements(scope, nowMs);
  const inside = insideOf(periodEndingAt(nowMs));
  const engineering = active.filter(
    ({ department }) => department !== null && asCompared(department).includes('engineering'),
  ).length;
  const departments = topOf(active.flatMap(({ department }) => (department === null ? [] : [department])));
  return {
    company: shownCompany(scope),
    active_job_count: active.length,
    observed_sample_jobs: active.length,
    engineering_jobs_in_sample: engineering,
    engineering_job_count: engineering,
    top_hiring_departments: departments.map(([department, count]) => ({ department, observed_job_count: count })),
    top_requested_skills: topOf(active.flatMap(({ skills }) => skills)).map(([skill, count]) => ({
      skill,
      observed_job_count: count,
      sample_size: active.length,
    })),
    last_observed_at: dateTimeOrNull(active[0]?.lastObservedMs ?? null),
    first_observed_jobs: opened.length,
    no_longer_observed_jobs: closed.length,
    hiring_activity_score: scored(active.filter((job) => inside(job.lastObservedMs)).length, active.length),
    observation_period: shownPeriod(nowMs),
  };
}

export function overview(scope: NaiveScope): Answer {
  const { active, closed } = scope;
  return {
    active_jobs: active.length,
    closed_jobs: closed.length,
    companies: new Set(active.map(identityOf)).size,
    by_remote_status: REMOTE_STATUSES.map((status) => ({
      remote_status: status,
      active_job_count: active.filter((job) => job.remoteStatus === status).length,
    })),
    by_employment_type: EMPLOYMENT_TYPES.map((type) => ({
      employment_type: type,
      active_job_count: active.filter((job) => job.employmentType === type).length,
    })),
    ...spanOf(scope),
  };
}

/** Companies with an active job, most active jobs first; first observations of all their jobs count. */
function topCompanies(scope: NaiveScope, nowMs: number): Json[] {
  const inside = insideOf(periodEndingAt(nowMs));
  const all = Map.groupBy(allOf(scope), identityOf);
  const companies = [...Map.groupBy(scope.active, identityOf)].map(([identity, jobs]) => ({
    identity,
    active: jobs.length,
    opened: all.get(identity)!.filter((job) => inside(job.firstObservedMs)).length,
    company: shownCompany({ active: jobs, closed: [] }),
  }));
  companies.sort(
    (a, b) =>
      b.active - a.active ||
      b.opened - a.opened ||
      byCodeUnit(a.identity.slice(1), b.identity.slice(1)) ||
      byCodeUnit(a.identity, b.identity),
  );
  return companies.slice(0, TOP).map(({ active, company, opened }) => ({
    company,
    active_job_count: active,
    first_observed_jobs: opened,
  }));
}

export function hiringMetrics(scope: NaiveScope, nowMs: number): Answer {
  const { opened, closed } = movements(scope, nowMs);
  const dayOf = (timeMs: number): string => dateTime(timeMs).slice(0, 10);
  const days = Array.from({ length: 8 }, (_, i) => dayOf(nowMs - (7 - i) * DAY_MS));
  return {
    observation_period: shownPeriod(nowMs),
    first_observed_jobs: opened.length,
    no_longer_observed_jobs: closed.length,
    net_change: opened.length - closed.length,
    by_day: days.map((date) => ({
      date,
      first_observed_jobs: opened.filter((timeMs) => dayOf(timeMs) === date).length,
      no_longer_observed_jobs: closed.filter((timeMs) => dayOf(timeMs) === date).length,
    })),
    top_companies: topCompanies(scope, nowMs),
    top_departments: topDepartments(scope.active),
    top_skills: topOf(scope.active.flatMap(({ skills }) => skills)).map(([skill, count]) => ({
      skill,
      active_job_count: count,
    })),
  };
}

/** Every recorded skill of the jobs, most jobs first, then by text. */
export function skillCounts(
  jobs: readonly Job[],
): { readonly skill: string; readonly active_job_count: number; readonly company_count: number }[] {
  const texts = topOf(
    jobs.flatMap(({ skills }) => skills),
    Number.POSITIVE_INFINITY,
  );
  return texts.map(([skill, count]) => ({
    skill,
    active_job_count: count,
    company_count: new Set(jobs.filter(({ skills }) => skills.includes(skill)).map(identityOf)).size,
  }));
}

export function publicOverview(scope: NaiveScope): Answer {
  const { active_jobs, closed_jobs, companies, last_observed_at } = overview(scope);
  return {
    active_jobs: active_jobs!,
    closed_jobs: closed_jobs!,
    companies: companies!,
    last_observed_at: last_observed_at!,
  };
}

/** At most five of the twelve active jobs with the smallest digests. */
export function publicSearch({ active }: NaiveScope, q: string): Answer {
  const byDigest = [...active].sort((a, b) => byCodeUnit(digestOf(a.id), digestOf(b.id)));
  const pool = byDigest.slice(0, POOL);
  const isAsked = everyTermIn(q);
  const found = pool.filter((job) => isAsked([job.title, job.company, job.department, ...job.skills]));
  const samples = found.slice(0, SAMPLES).map((job) => ({
    id: job.id,
    title: job.title,
    company: job.company,
    location: job.location,
    remote_status: job.remoteStatus,
    last_observed_at: dateTime(job.lastObservedMs),
  }));
  return { samples, returned_samples: samples.length, limit: SAMPLES, pool_size: pool.length };
}
