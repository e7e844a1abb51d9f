/**
 * The thirteen operations of the Jobs Data API answered row by row, straight from siblings §3 and §4 and decisions §3,
 * over plain job records and a plain list of events: slow, short, and sharing only types with the engine. Tests judge
 * the surface by it.
 *
 * A cursor stands for the place of the last record shown, so in any later catalogue a chain continues after that place:
 * it omits nothing after it, and does not show records that have moved before it.
 */
import type { Job } from '../../src/catalogue/job.ts';
import { asCompared, byCodeUnit, digestOf, everyTermIn, identityOf, newestFirst } from './naive-catalogue.ts';
import {
  companyHiring,
  companySummary,
  dateTime,
  dateTimeOrNull,
  hiringMetrics,
  type Json,
  type NaiveScope,
  overview,
  publicOverview,
  publicSearch,
  shownCompany,
  skillCounts,
} from './naive-data-summaries.ts';

export const DATA_ROUTES = [
  '/v1/jobs/search',
  '/v1/jobs',
  '/v1/jobs/{id}',
  '/v1/jobs/{id}/history',
  '/v1/history',
  '/v1/companies/{domain}',
  '/v1/companies/{domain}/jobs',
  '/v1/companies/{domain}/hiring',
  '/v1/skills',
  '/v1/metrics/overview',
  '/v1/metrics/hiring',
  '/v1/public/overview',
  '/v1/public/search',
] as const;
export type DataRoute = (typeof DATA_ROUTES)[number];

/** A request as a customer writes it, without `limit` and `cursor`. */
export interface DataQuestion {
  readonly route: DataRoute;
  /** The id or the domain of the path, not encoded. */
  readonly of?: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A place in an order: ascending, part by part. */
export type Place = readonly (number | string)[];

export interface NaiveChange {
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

export interface NaiveEvent {
  /** Names the event in tests; the surface may choose any id, but must keep it. */
  readonly name: string;
  /** In the feed. */
  readonly place: Place;
  readonly jobId: string;
  readonly type: 'first_observed' | 'changed' | 'closed' | 'reopened';
  readonly observedMs: number;
  /** As of the event. */
  readonly title: string;
  readonly changes: readonly NaiveChange[];
  /** The company as last known, for a job that the catalogue leaves out. */
  readonly company: { readonly name: string; readonly domain: string | null };
}

/** `data` and `meta` of a 200, without what only the server knows: request id, remaining credits, limitations. */
export interface NaiveAnswer {
  readonly status: 200;
  readonly data: Readonly<Record<string, Json>>;
  readonly meta: Readonly<Record<string, Json>>;
  /** Credits. */
  readonly charged: number;
  /** The place for which the answer's cursor stands; null without a cursor. */
  readonly next: Place | null;
}
export type NaiveOutcome =
  | NaiveAnswer
  | { readonly status: 404; readonly code: 'JOB_NOT_FOUND' | 'COMPANY_NOT_FOUND'; readonly charged: 0 };

/** The whole list that a question asks for, in its order. */
interface NaiveList {
  /** Name of the list and of the number of its records on a page. */
  readonly names: readonly [list: string, returned: string];
  readonly records: readonly { readonly place: Place; readonly shown: Json }[];
  /** Members of `data` before the list. */
  readonly head: Readonly<Record<string, Json>>;
  /** The present end of a list that can be followed for ever. */
  readonly end?: Place;
}

function comparePlaces(a: Place, b: Place): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [one, other] = [a[i]!, b[i]!];
    const order = typeof one === 'number' ? one - Number(other) : byCodeUnit(one, String(other));
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The path of a question, with its query; @param page what it asks of the list */
export function targetOf({ route, of, query }: DataQuestion, page: Readonly<Record<string, string>> = {}): string {
  const path = route.replace(/\{\w+\}/, () => encodeURIComponent(of ?? ''));
  const parameters = new URLSearchParams({ ...query, ...page }).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
}

/** The history of native lines: each job's first observation and closing, by time, then by the id of the job (siblings §4). */
export function nativeEvents(jobs: readonly Job[]): NaiveEvent[] {
  const events = jobs.flatMap((job): NaiveEvent[] => {
    const eventOf = (type: 'first_observed' | 'closed', observedMs: number): NaiveEvent => ({
      name: `${type} ${job.id}`,
      place: [observedMs, job.id, type === 'closed' ? 1 : 0],
      jobId: job.id,
      type,
      observedMs,
      title: job.title,
      changes: [],
      company: { name: job.company, domain: job.companyDomain },
    });
    const opened = eventOf('first_observed', job.firstObservedMs);
    return job.closedAtMs === null ? [opened] : [opened, eventOf('closed', job.closedAtMs)];
  });
  return events.sort((a, b) => comparePlaces(a.place, b.place));
}

export class NaiveDataApi {
  readonly #scope: NaiveScope;
  /** In the order in which they were recorded. */
  readonly #events: readonly NaiveEvent[];
  readonly #byId: ReadonlyMap<string, Job>;
  readonly #lists = new WeakMap<DataQuestion, NaiveList | null>();

  constructor(jobs: readonly Job[], events: readonly NaiveEvent[]) {
    this.#scope = {
      active: jobs.filter(({ status }) => status === 'active').sort(newestFirst),
      closed: jobs.filter(({ status }) => status === 'closed').sort(newestFirst),
    };
    this.#events = events;
    this.#byId = new Map(jobs.map((job) => [job.id, job]));
  }

  /** @param after the place that the cursor stands for */
  answer(question: DataQuestion, nowMs: number, limit = 25, after?: Place): NaiveOutcome {
    switch (question.route) {
      case '/v1/public/overview':
        return this.#free(publicOverview(this.#scope), nowMs);
      case '/v1/public/search':
        return this.#free(publicSearch(this.#scope, question.query.q!), nowMs);
      case '/v1/metrics/overview':
        return this.#charged(2, overview(this.#scope), nowMs);
      case '/v1/metrics/hiring':
        return this.#charged(5, hiringMetrics(this.#scope, nowMs), nowMs);
      case '/v1/jobs/{id}': {
        const job = this.#byId.get(question.of!);
        return job === undefined ? notFound('JOB') : this.#charged(1, { job: jobDetailOf(job) }, nowMs);
      }
      case '/v1/companies/{domain}':
      case '/v1/companies/{domain}/hiring': {
        const domain = this.#domainOf(question.of!);
        if (domain === undefined) return notFound('COMPANY');
        const scope = this.#ofCompany(domain);
        return question.route === '/v1/companies/{domain}'
          ? this.#charged(2, companySummary(scope), nowMs)
          : this.#charged(5, companyHiring(scope, nowMs), nowMs);
      }
      default:
        return this.#page(question, nowMs, limit, after);
    }
  }

  #page(question: DataQuestion, nowMs: number, limit: number, after: Place | undefined): NaiveOutcome {
    const list = this.#listOf(question);
    if (list === null) return notFound(question.route === '/v1/jobs/{id}/history' ? 'JOB' : 'COMPANY');
    const rest =
      after === undefined ? list.records : list.records.filter(({ place }) => comparePlaces(place, after) > 0);
    const shown = rest.slice(0, limit);
    let next = rest.length > limit ? shown.at(-1)!.place : null;
    if (next === null && list.end !== undefined) {
      next = after !== undefined && comparePlaces(after, list.end) > 0 ? after : list.end;
    }
    const [name, returned] = list.names;
    const data = { ...list.head, [name]: shown.map((record) => record.shown), [returned]: shown.length, limit };
    return { ...this.#charged(shown.length, data, nowMs), next };
  }

  #charged(charged: number, data: Readonly<Record<string, Json>>, nowMs: number): NaiveAnswer {
    const freshness = { last_observed_at: dateTimeOrNull(this.#scope.active[0]?.lastObservedMs ?? null) };
    const meta = { generated_at: dateTime(nowMs), freshness, credits: { charged } };
    return { status: 200, data, meta, charged, next: null };
  }

  #free(data: Readonly<Record<string, Json>>, nowMs: number): NaiveAnswer {
    return { status: 200, data, meta: { generated_at: dateTime(nowMs) }, charged: 0, next: null };
  }

  #listOf(question: DataQuestion): NaiveList | null {
    let list = this.#lists.get(question);
    if (list === undefined) {
      list = this.#made(question) ?? null;
      this.#lists.set(question, list);
    }
    return list;
  }

  #made({ route, of, query }: DataQuestion): NaiveList | undefined {
    switch (route) {
      case '/v1/jobs/search':
      case '/v1/jobs':
        return jobList(this.#matching(query), {});
      case '/v1/companies/{domain}/jobs': {
        const domain = this.#domainOf(of!);
        if (domain === undefined) return undefined;
        const company = shownCompany(this.#ofCompany(domain));
        return jobList(this.#matching({ ...query, company: domain }), { company });
      }
      case '/v1/jobs/{id}/history': {
        const own = this.#events.filter(({ jobId }) => jobId === of);
        const placed = own.map((event) => ({ event, place: [event.observedMs, ...event.place] }));
        placed.sort((a, b) => comparePlaces(a.place, b.place));
        return this.#byId.has(of!) ? this.#eventList(placed, { job_id: of! }) : undefined;
      }
      case '/v1/history': {
        const placed = this.#feed(query).map((event) => ({ event, place: event.place }));
        const list = this.#eventList(placed, {});
        if (query.until !== undefined) return list;
        const isKnown = query.company === undefined || this.#domainOf(query.company) !== undefined;
        return { ...list, end: isKnown ? (this.#events.at(-1)?.place ?? []) : [] };
      }
      case '/v1/skills':
        return this.#skillList(query);
      default:
        throw new Error(`${route} is no list`);
    }
  }

  #matching(query: DataQuestion['query']): Job[] {
    const { active, closed } = this.#scope;
    const { status = 'active', keyword, location, company, remote, skill } = query;
    const jobs = { active, closed, any: [...active, ...closed].sort(newestFirst) }[status] ?? [];
    const domain = company === undefined ? undefined : this.#domainOf(company);
    const sinceMs = query.observed_since === undefined ? undefined : Date.parse(query.observed_since);
    const hasKeyword = everyTermIn(keyword);
    const hasLocation = everyTermIn(location);
    return jobs.filter(
      (job) =>
        hasKeyword([job.title, job.company, job.department, ...job.skills]) &&
        hasLocation([job.location]) &&
        (company === undefined || (domain !== undefined && job.companyDomain === domain)) &&
        (remote === undefined || job.remoteStatus === (remote === 'true' ? 'remote' : 'on_site')) &&
        (query.employment_type === undefined || job.employmentType === query.employment_type) &&
        isDepartment(query.department, job) &&
        (skill === undefined || job.skills.some((one) => asCompared(one) === asCompared(skill))) &&
        (sinceMs === undefined || job.lastObservedMs >= sinceMs),
    );
  }

  #feed({ since, until, type, company }: DataQuestion['query']): NaiveEvent[] {
    const domain = company === undefined ? undefined : this.#domainOf(company);
    const isAsked = (event: NaiveEvent): boolean =>
      company === undefined || (domain !== undefined && this.#companyOf(event).domain === domain);
    return this.#events.filter(
      (event) =>
        (since === undefined || event.observedMs >= Date.parse(since)) &&
        (until === undefined || event.observedMs < Date.parse(until)) &&
        (type === undefined || event.type === type) &&
        isAsked(event),
    );
  }

  readonly #shownNames = new Map<string, string>();

  /** The company with its present name, from its newest active job or else its newest closed one. */
  #companyOf({ jobId, company }: NaiveEvent): NaiveEvent['company'] {
    const job = this.#byId.get(jobId);
    if (job === undefined) return company;
    if (this.#shownNames.size === 0) {
      for (const one of [...this.#scope.active, ...this.#scope.closed]) {
        const identity = identityOf(one);
        if (!this.#shownNames.has(identity)) this.#shownNames.set(identity, one.company);
      }
    }
    return { name: this.#shownNames.get(identityOf(job))!, domain: job.companyDomain };
  }

  #eventList(
    placed: readonly { readonly event: NaiveEvent; readonly place: Place }[],
    head: NaiveList['head'],
  ): NaiveList {
    const records = placed.map(({ event, place }) => ({
      place,
      shown: {
        id: event.name,
        job_id: event.jobId,
        type: event.type,
        observed_at: dateTime(event.observedMs),
        title: event.title,
        company: { ...this.#companyOf(event) },
        changes: event.changes.map((change) => ({ ...change })),
      },
    }));
    return { names: ['events', 'returned_events'], records, head };
  }

  #skillList({ q, company, department }: DataQuestion['query']): NaiveList {
    const domain = company === undefined ? undefined : this.#domainOf(company);
    const jobs = this.#scope.active.filter(
      (job) =>
        (company === undefined || (domain !== undefined && job.companyDomain === domain)) &&
        isDepartment(department, job),
    );
    const isAsked = everyTermIn(q);
    const counts = skillCounts(jobs).filter(({ skill }) => isAsked([skill]));
    return {
      names: ['skills', 'returned_skills'],
      records: counts.map((shown) => ({ place: [-shown.active_job_count, shown.skill], shown })),
      head: {},
    };
  }

  readonly #domains = new Map<string, string | undefined>();

  /** The domain of the company with this domain or, as its only owner, this alias; a domain beats an alias. */
  #domainOf(asked: string): string | undefined {
    const host = asked.toLowerCase();
    if (!this.#domains.has(host)) {
      const jobs = [...this.#byId.values()];
      const isDomain = jobs.some(({ companyDomain }) => companyDomain === host);
      const named = jobs.filter(({ companyAliases = [] }) => companyAliases.some((alias) => alias === host));
      const owners = new Set(named.map(({ companyDomain }) => companyDomain as string));
      this.#domains.set(host, isDomain ? host : owners.size === 1 ? [...owners][0] : undefined);
    }
    return this.#domains.get(host);
  }

  #ofCompany(domain: string): NaiveScope {
    const isOwn = (job: Job): boolean => job.companyDomain === domain;
    return { active: this.#scope.active.filter(isOwn), closed: this.#scope.closed.filter(isOwn) };
  }
}

const notFound = (what: 'JOB' | 'COMPANY'): NaiveOutcome => ({ status: 404, code: `${what}_NOT_FOUND`, charged: 0 });

const isDepartment = (wanted: string | undefined, { department }: Job): boolean =>
  wanted === undefined || (department !== null && asCompared(department) === asCompared(wanted));

const jobList = (jobs: readonly Job[], head: NaiveList['head']): NaiveList => ({
  names: ['jobs', 'returned_jobs'],
  records: jobs.map((job) => ({ place: [-job.lastObservedMs, digestOf(job.id), job.id], shown: jobRecordOf(job) })),
  head,
});

const jobRecordOf = (job: Job): Readonly<Record<string, Json>> => ({
  id: job.id,
  title: job.title,
  company: job.company,
  company_domain: job.companyDomain,
  location: job.location,
  remote_status: job.remoteStatus,
  employment_type: job.employmentType,
  source_url: job.sourceUrl,
  last_observed_at: dateTime(job.lastObservedMs),
  department: job.department,
  skills: job.skills,
  first_observed_at: dateTime(job.firstObservedMs),
  status: job.status,
});

const jobDetailOf = (job: Job): Readonly<Record<string, Json>> => ({
  ...jobRecordOf(job),
  description: job.description,
  description_truncated: job.descriptionTruncated,
  closed_at: dateTimeOrNull(job.closedAtMs),
});
