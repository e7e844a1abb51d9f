/** The judge judged: the sentences of siblings §4 and decisions §3 that the model answers by, each on a catalogue of a few jobs. */
import { describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import {
  type DataQuestion,
  type DataRoute,
  NaiveDataApi,
  nativeEvents,
  type Place,
} from '../../support/naive-data-api.ts';

const DAY_MS = 86_400_000;
/** A Wednesday at noon. */
const NOW_MS = Date.UTC(2026, 6, 15, 12);

const acme = 'acme.com' as CompanyDomain;
const globex = 'globex.io' as CompanyDomain;
const closedAt = (closedAtMs: number): Partial<Job> => ({ status: 'closed', closedAtMs });

const apiOf = (...jobs: Partial<Job>[]): NaiveDataApi => {
  const whole = jobs.map((job, i) => minimalJob({ id: String(i), ...job }));
  return new NaiveDataApi(whole, nativeEvents(whole));
};

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;

function dataOf(api: NaiveDataApi, route: DataRoute, query: DataQuestion['query'] = {}, of?: string): Data {
  const answer = api.answer(of === undefined ? { route, query } : { route, query, of }, NOW_MS);
  if (answer.status !== 200) throw new Error(answer.code);
  return answer.data;
}

const idsOf = ({ jobs }: Data): string[] => jobs.map(({ id }: { id: string }) => id);

describe('the model lists jobs', () => {
  const jobs: Partial<Job>[] = [
    { id: 'old', lastObservedMs: 1, firstObservedMs: 1, title: 'Zürich lead', skills: ['Node.js'], company: 'Acme' },
    { id: 'new', lastObservedMs: 9, location: 'ZURICH', department: 'Éngineering', companyDomain: acme },
    { id: 'gone', lastObservedMs: 5, ...closedAt(6), remoteStatus: 'on_site', companyDomain: globex },
  ];
  const cases: readonly (readonly [because: string, query: DataQuestion['query'], ids: readonly string[]])[] = [
    ['active by default, newest observation first', {}, ['new', 'old']],
    ['closed', { status: 'closed' }, ['gone']],
    ['of any status in one order', { status: 'any' }, ['new', 'gone', 'old']],
    ['by terms of title, company, department and skills together', { keyword: 'zurich NODE.js acme' }, ['old']],
    ['by place, as texts compare', { location: 'zürich' }, ['new']],
    ['by a whole department', { department: 'engineering' }, ['new']],
    ['not by a part of a department', { department: 'engineer' }, []],
    ['by a whole skill, as texts compare', { skill: 'NODE.JS' }, ['old']],
    ['not by a part of a skill', { skill: 'node' }, []],
    ['remote=false as on site alone', { remote: 'false', status: 'any' }, ['gone']],
    ['remote=true as remote alone', { remote: 'true', status: 'any' }, []],
    ['of an unknown company as none', { company: 'none.example' }, []],
    ['of a company in lower case', { company: 'ACME.com' }, ['new']],
    ['observed since a time that is included', { observed_since: '1970-01-01T00:00:00.009Z' }, ['new']],
    ['observed since a bare date, which is midnight UTC', { observed_since: '1970-01-01' }, ['new', 'old']],
  ];
  for (const [because, query, ids] of cases) {
    it(because, () => expect(idsOf(dataOf(apiOf(...jobs), '/v1/jobs/search', query))).toEqual(ids));
  }

  it('breaks ties of time by the SHA-256 of the id', () => {
    // 4b227777..., 4e074085..., d4735e3a...
    expect(idsOf(dataOf(apiOf({ id: '2' }, { id: '3' }, { id: '4' }), '/v1/jobs'))).toEqual(['4', '3', '2']);
  });

  it('finds a company by its alias, unless that is a domain or the alias of two', () => {
    const aliases = ['acme.jobs', 'globex.io', 'both.example'] as CompanyDomain[];
    const api = apiOf(
      { companyDomain: acme, companyAliases: aliases },
      { companyDomain: globex, companyAliases: ['both.example' as CompanyDomain] },
    );
    const listed = (company: string): string[] => idsOf(dataOf(api, '/v1/jobs', { company }));
    expect(['acme.jobs', 'globex.io', 'both.example'].map(listed)).toEqual([['0'], ['1'], []]);
    expect(dataOf(api, '/v1/companies/{domain}', {}, 'ACME.jobs').company.domain).toBe(acme);
  });

  it('has no answer for an id or a domain that the catalogue does not have, and takes nothing for it', () => {
    const cases = [
      ['/v1/jobs/{id}', 'JOB_NOT_FOUND'],
      ['/v1/jobs/{id}/history', 'JOB_NOT_FOUND'],
      ['/v1/companies/{domain}', 'COMPANY_NOT_FOUND'],
      ['/v1/companies/{domain}/jobs', 'COMPANY_NOT_FOUND'],
      ['/v1/companies/{domain}/hiring', 'COMPANY_NOT_FOUND'],
    ] as const;
    for (const [route, code] of cases) {
      const answer = apiOf({}).answer({ route, of: 'none', query: {} }, NOW_MS);
      expect(answer).toEqual({ status: 404, code, charged: 0 });
    }
  });
});

describe('the model pages', () => {
  const pageOf = (api: NaiveDataApi, question: DataQuestion, limit: number, after?: Place) => {
    const answer = api.answer(question, NOW_MS, limit, after);
    if (answer.status !== 200) throw new Error(answer.code);
    return answer;
  };
  const LIST: DataQuestion = { route: '/v1/jobs', query: {} };
  const at = (id: string, lastObservedMs: number): Partial<Job> => ({ id, lastObservedMs });

  it('without an empty page at the end', () => {
    const api = apiOf(at('a', 3), at('b', 2));
    const first = pageOf(api, LIST, 1);
    const last = pageOf(api, LIST, 1, first.next!);
    expect([idsOf(first.data), idsOf(last.data), last.next]).toEqual([['a'], ['b'], null]);
    expect([first.charged, last.charged]).toEqual([1, 1]);
  });

  it('on in a later catalogue: nothing behind the place is left out, nothing in front of it is shown again', () => {
    const { next } = pageOf(apiOf(at('a', 9), at('b', 8), at('c', 3), at('d', 2)), LIST, 2);
    // b is gone, c has moved in front, e is new behind, f is new in front.
    const later = apiOf(at('a', 9), at('c', 10), at('d', 2), at('e', 7), at('f', 11));
    expect(idsOf(pageOf(later, { ...LIST }, 9, next!).data)).toEqual(['e', 'd']);
  });

  it('a feed for ever without `until`, and to its end with it', () => {
    const feed: DataQuestion = { route: '/v1/history', query: {} };
    const until: DataQuestion = { route: '/v1/history', query: { until: '1970-01-01T00:00:00.005Z' } };
    const before = apiOf({ id: 'a', firstObservedMs: 4 });
    const first = pageOf(before, feed, 25);
    expect([first.charged, pageOf(before, until, 25).next]).toEqual([1, null]);
    const empty = pageOf(before, feed, 25, first.next!);
    expect([empty.charged, empty.next]).toEqual([0, first.next]);
    const later = apiOf({ id: 'a', firstObservedMs: 4 }, { id: 'b', firstObservedMs: 5, ...closedAt(5) });
    const shown = pageOf(later, { ...feed }, 25, empty.next!).data.events as Data[];
    expect(shown.map(({ job_id: id, type }) => [id, type])).toEqual([
      ['b', 'first_observed'],
      ['b', 'closed'],
    ]);
    expect(pageOf(later, { ...until }, 25).charged).toBe(1);
  });
});

describe('the model counts', () => {
  it('skills as recorded, most jobs first, then by code units, and the companies that ask for them', () => {
    const api = apiOf(
      { skills: ['Rust', 'rust'], companyDomain: acme },
      { skills: ['rust', 'Go'], companyDomain: acme },
      { skills: ['Go'], company: 'ACME' },
      { skills: ['Go'], company: 'Ácme' },
      { skills: ['Ada'], ...closedAt(0) },
    );
    expect(dataOf(api, '/v1/skills').skills).toEqual([
      { skill: 'Go', active_job_count: 3, company_count: 2 },
      { skill: 'rust', active_job_count: 2, company_count: 1 },
      { skill: 'Rust', active_job_count: 1, company_count: 1 },
    ]);
    expect(dataOf(api, '/v1/skills', { q: 'RUS' }).returned_skills).toBe(2);
    expect(dataOf(api, '/v1/skills', { company: 'acme.com', q: 'go' }).skills[0].active_job_count).toBe(1);
  });

  it('a company by its active jobs, spans active and closed ones, and shows departments as on the newest', () => {
    const api = apiOf(
      { companyDomain: acme, company: 'Acme', department: 'sales', firstObservedMs: 5, lastObservedMs: 6 },
      { companyDomain: acme, company: 'ACME Inc.', department: 'SALES', firstObservedMs: 7, lastObservedMs: 7 },
      { companyDomain: acme, company: 'Closed', department: 'Law', lastObservedMs: 99, ...closedAt(99) },
    );
    expect(dataOf(api, '/v1/companies/{domain}', {}, 'acme.com')).toEqual({
      company: { name: 'ACME Inc.', domain: 'acme.com' },
      active_job_count: 2,
      closed_job_count: 1,
      departments: [{ department: 'SALES', active_job_count: 2 }],
      first_observed_at: '1970-01-01T00:00:00.000Z',
      last_observed_at: '1970-01-01T00:00:00.099Z',
    });
  });

  it('what moved in the period, both ends included, on the eight days that it touches', () => {
    const startMs = NOW_MS - 7 * DAY_MS;
    const api = apiOf(
      { firstObservedMs: startMs, lastObservedMs: NOW_MS, companyDomain: acme },
      { firstObservedMs: startMs - 1, lastObservedMs: startMs - 1, companyDomain: acme },
      { firstObservedMs: NOW_MS, lastObservedMs: NOW_MS, ...closedAt(NOW_MS), companyDomain: acme },
      { firstObservedMs: 0, lastObservedMs: startMs, ...closedAt(startMs - 1), companyDomain: globex },
    );
    const metrics = dataOf(api, '/v1/metrics/hiring');
    expect(metrics).toMatchObject({ first_observed_jobs: 2, no_longer_observed_jobs: 1, net_change: 1 });
    expect(metrics.by_day).toHaveLength(8);
    expect(metrics.by_day[0]).toEqual({ date: '2026-07-08', first_observed_jobs: 1, no_longer_observed_jobs: 0 });
    expect(metrics.by_day[7]).toEqual({ date: '2026-07-15', first_observed_jobs: 1, no_longer_observed_jobs: 1 });
    expect(metrics.top_companies).toEqual([
      { company: { name: 'Acme', domain: 'acme.com' }, active_job_count: 2, first_observed_jobs: 2 },
    ]);
    expect(dataOf(api, '/v1/companies/{domain}/hiring', {}, 'acme.com')).toMatchObject({
      observed_sample_jobs: 2,
      hiring_activity_score: 50,
      first_observed_jobs: 2,
      no_longer_observed_jobs: 1,
    });
  });

  it('every value of the closed lists, zero too', () => {
    const {
      by_employment_type: types,
      by_remote_status: statuses,
      companies,
    } = dataOf(apiOf(), '/v1/metrics/overview');
    expect([types.length, statuses.length, companies]).toEqual([6, 4, 0]);
  });

  it('at most twelve jobs into the public pool and five out of it, by digest', () => {
    const api = apiOf(...Array.from({ length: 14 }, (_, i) => ({ id: String(i), title: i === 4 ? 'Cook' : 'Nurse' })));
    const all = dataOf(api, '/v1/public/search', { q: 'nurse' });
    expect([all.pool_size, all.returned_samples, all.limit]).toEqual([12, 5, 5]);
    expect(dataOf(api, '/v1/public/search', { q: 'cook' }).samples.map(({ id }: Data) => id)).toEqual(['4']);
  });
});
