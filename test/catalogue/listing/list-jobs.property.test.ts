/** Pages of jobs against a plain filter over all jobs, and chains of pages over other states of the catalogue. */
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { EMPLOYMENT_TYPES, type Job } from '../../../src/catalogue/job.ts';
import { POSITION_BYTES_MAX } from '../../../src/catalogue/limits.ts';
import { listJobs } from '../../../src/catalogue/listing/list-jobs.ts';
import type { JobListFilters } from '../../../src/catalogue/listing/listing-answers.ts';
import { comparedText, termsOf } from '../../../src/catalogue/terms.ts';
import { generatedJobs, generatedSearch, NOW_MS, SeededChance } from '../../support/generated-catalogue.ts';
import { newestFirst } from '../../support/naive-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';

const DAY_MS = 86_400_000;

function everyTermIn(filter: string | undefined, fields: readonly (string | null)[]): boolean {
  const texts = fields.map((field) => comparedText(field ?? ''));
  return termsOf(filter ?? '').every((term) => texts.some((text) => text.includes(term)));
}

const isText = (wanted: string | undefined, texts: readonly (string | null)[]): boolean =>
  wanted === undefined || texts.some((text) => text !== null && comparedText(text) === comparedText(wanted));

const plainly = (jobs: readonly Job[], filters: JobListFilters): Job[] =>
  jobs
    .filter(
      (job) =>
        (filters.status === 'any' || job.status === filters.status) &&
        everyTermIn(filters.keyword, [job.title, job.company, job.department, ...job.skills]) &&
        everyTermIn(filters.location, [job.location]) &&
        (filters.company === undefined || job.companyDomain === filters.company) &&
        (filters.remote === undefined || job.remoteStatus === (filters.remote ? 'remote' : 'on_site')) &&
        (filters.employmentType === undefined || job.employmentType === filters.employmentType) &&
        isText(filters.department, [job.department]) &&
        isText(filters.skill, job.skills) &&
        job.lastObservedMs >= (filters.observedSinceMs ?? Number.NEGATIVE_INFINITY),
    )
    .sort(newestFirst);

function generatedFilters(chance: SeededChance, jobs: readonly Job[]): JobListFilters {
  const one = chance.oneOf(jobs);
  const search = chance.is(50) ? generatedSearch(chance, jobs) : {};
  return {
    ...search,
    ...(chance.is(30) ? { company: (one.companyDomain ?? 'unknown.example') as CompanyDomain } : {}),
    ...(chance.is(20) ? { department: (one.department || 'Nowhere').toUpperCase() } : {}),
    ...(chance.is(20) ? { skill: one.skills[0]?.toUpperCase() ?? 'nothing' } : {}),
    ...(chance.is(10) ? { employmentType: chance.oneOf(EMPLOYMENT_TYPES) } : {}),
    ...(chance.is(20) ? { observedSinceMs: one.lastObservedMs + chance.oneOf([0, 1, -1]) } : {}),
    status: chance.oneOf(['active', 'closed', 'any'] as const),
  };
}

const idsOf = (catalogue: Catalogue, rows: readonly number[]): string[] =>
  catalogue.foundJobs.at(rows).map(({ id }) => id);

/** A position without the snapshot that it is from, so that its place is looked for by the order key. */
const byOrderKey = (position: Uint8Array): Uint8Array => position.slice().fill(0, 40, 48);

/** All ids of a chain, page by page; no page but a first one is empty. Every other place is looked for. */
function chainOf(catalogue: Catalogue, filters: JobListFilters, limit: number, from?: Uint8Array): string[] {
  const ids: string[] = [];
  let after = from;
  let pages = 0;
  for (;;) {
    const page = listJobs(catalogue, filters, after, limit)!;
    ids.push(...idsOf(catalogue, page.rows));
    if (page.next === null) return ids;
    expect(page.rows).toHaveLength(limit);
    expect(page.next.length).toBeLessThanOrEqual(POSITION_BYTES_MAX);
    after = pages++ % 2 === 0 ? page.next : byOrderKey(page.next);
  }
}

describe.each([
  ['of many days', { jobCount: 700, closedPercent: 35, moreCompanies: 5 }],
  ['of one moment', { jobCount: 500, closedPercent: 40, oneDay: true }],
])('jobs %s', (_, shape) => {
  const chance = new SeededChance(31);
  const jobs = generatedJobs(chance, shape);
  const catalogue = new Catalogue(openedJobs(chance.shuffled(jobs)));

  it('come as a plain filter gives them, at every limit', () => {
    let found = 0;
    for (let i = 0; i < partOf(130, 40); i++) {
      const filters = generatedFilters(chance, jobs);
      const because = JSON.stringify(filters);
      const expected = plainly(jobs, filters).map(({ id }) => id);
      found += expected.length;
      const limit = chance.oneOf([1, 2, 7, 25, 100, Math.max(expected.length, 1), expected.length + 1]);
      expect(chainOf(catalogue, filters, limit), because).toEqual(expected);
    }
    expect(found).toBeGreaterThan(partOf(2500, 700));
    for (let limit = 3; limit <= 100; limit += IS_WHOLE ? 7 : 31) {
      expect(chainOf(catalogue, { status: 'any' }, limit)).toHaveLength(jobs.length);
    }
  });

  it('go on over another state of the catalogue without skipping or repeating', () => {
    for (let round = 0; round < partOf(12, 4); round++) {
      const filters: JobListFilters = { status: chance.oneOf(['active', 'closed', 'any'] as const) };
      const limit = 1 + chance.below(40);
      const before = plainly(jobs, filters);
      const page = listJobs(catalogue, filters, undefined, limit)!;
      const shown = idsOf(catalogue, page.rows);
      const last = before[shown.length - 1]!;
      const added = generatedJobs(chance, { ...shape, jobCount: 50 }).map((job) => ({ ...job, id: `new-${job.id}` }));
      const kept = jobs
        .filter((job) => (job.id === last.id ? chance.is(50) : !chance.is(10)))
        .map((job) => (chance.is(5) ? { ...job, lastObservedMs: NOW_MS + DAY_MS, closedAtMs: null } : job))
        .map((job): Job => (chance.is(5) ? { ...job, status: 'active', closedAtMs: null } : job))
        .map((job): Job => (job.closedAtMs === null ? { ...job, status: 'active' } : job));
      const later = [...kept, ...added];
      const next = new Catalogue(openedJobs(later));
      // What stands behind the last job that was shown, whether that job is still there or not.
      const expected = plainly(later, filters).filter((job) => newestFirst(last, job) < 0);
      expect(chainOf(next, filters, limit, page.next!)).toEqual(expected.map(({ id }) => id));
    }
  });
});

it('shows a job as it was recorded', () => {
  const jobs = generatedJobs(new SeededChance(5), { jobCount: 200, closedPercent: 30 });
  const catalogue = new Catalogue(openedJobs(jobs));
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const rows = Array.from({ length: 200 }, (_, i) => (i * 77) % 200);
  for (const record of catalogue.foundJobs.at(rows)) {
    expect(byId.get(record.id)).toMatchObject(record);
  }
  expect(catalogue.foundJobs.at(rows)).toHaveLength(200);
});

describe('a position that is damaged', () => {
  const catalogue = new Catalogue(openedJobs(generatedJobs(new SeededChance(1), { jobCount: 20 })));
  const good = listJobs(catalogue, { status: 'any' }, undefined, 5)!.next!;
  const withTime = (ms: number): Uint8Array => {
    const bytes = good.slice();
    new DataView(bytes.buffer).setFloat64(0, ms);
    return bytes;
  };

  it.each([
    ['empty', new Uint8Array(0)],
    ['a byte short', good.subarray(1)],
    ['a byte long', Uint8Array.of(...good, 0)],
    ['without a time', withTime(Number.NaN)],
    ['of a time that no date has', withTime(8.64e15 + 1)],
    ['of half a millisecond', withTime(0.5)],
  ])('is none: %s', (_, bytes) => {
    expect(listJobs(catalogue, { status: 'any' }, bytes, 5)).toBe(undefined);
    expect(listJobs(catalogue, { status: 'any', company: 'unknown.example' as CompanyDomain }, bytes, 5)).toBe(
      undefined,
    );
  });

  it('is one at the ends of time', () => {
    expect(listJobs(catalogue, { status: 'any' }, withTime(8.64e15), 100)!.rows).toHaveLength(20);
    expect(listJobs(catalogue, { status: 'any' }, withTime(-8.64e15), 100)).toMatchObject({ rows: [], next: null });
  });
});
