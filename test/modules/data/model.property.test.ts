/**
 * The Jobs Data API over HTTP against the plain model of siblings §4: generated catalogues with history, generated questions,
 * whole answers. One key pays for all of it, so that every charge of the run adds up.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NextPage } from '../../support/data-judge.ts';
import { NOW_MS, SeededChance } from '../../support/generated-catalogue.ts';
import { DataQuestions } from '../../support/generated-data-questions.ts';
import { GeneratedHistory, type RecordedCatalogue } from '../../support/generated-history.ts';
import { laterJobs, nativeJobs, recordedNative } from '../../support/generated-native.ts';
import { GRANTED, type JudgedDataApp, openJudgedDataApp } from '../../support/judged-data-app.ts';
import {
  DATA_ROUTES,
  type DataQuestion,
  type DataRoute,
  NaiveDataApi,
  targetOf,
} from '../../support/naive-data-api.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';

const DAY_MS = 86_400_000;
const COMPARISONS_MIN = partOf(20_000);
const MIDNIGHT_MS = NOW_MS - (NOW_MS % DAY_MS);

const LISTS: readonly DataRoute[] = [
  '/v1/jobs/search',
  '/v1/jobs',
  '/v1/jobs/{id}/history',
  '/v1/history',
  '/v1/companies/{domain}/jobs',
  '/v1/skills',
];

let app: JudgedDataApp;
beforeAll(async () => {
  app = await openJudgedDataApp(NOW_MS);
});
afterAll(() => app.close());

const faultless = (): void => expect(app.judge.takeFailures()).toEqual({ count: 0, first: [] });

async function serveNative(jobs: Parameters<typeof recordedNative>[0]): Promise<RecordedCatalogue> {
  writeFileSync(app.file, bytesOfJobs(jobs));
  await app.reload();
  return recordedNative(jobs);
}

const modelOf = ({ jobs, events }: RecordedCatalogue): NaiveDataApi => new NaiveDataApi(jobs, events);

/** Questions of every route, mostly their first page, now and then all of them. */
async function askMany(recorded: RecordedCatalogue, chance: SeededChance, count: number): Promise<void> {
  const model = modelOf(recorded);
  const questions = new DataQuestions(chance, recorded);
  for (const route of DATA_ROUTES) await app.judge.ask(model, questions.of(route), app.nowMs);
  for (let i = 0; i < count; i++) {
    const question = questions.next();
    const limit = LISTS.includes(question.route) ? questions.limit() : undefined;
    if (limit !== undefined && chance.is(15)) await app.judge.follow(model, question, app.nowMs, limit);
    else await app.judge.ask(model, question, app.nowMs, { limit });
  }
}

/** One chain of pages under way. */
interface Chain {
  readonly question: DataQuestion;
  /** Of the next page; a cursor is bound to the question, not to how much of it is shown. */
  limit: number;
  page: NextPage | undefined;
  isOver: boolean;
}

async function goOn(chain: Chain, model: NaiveDataApi): Promise<number> {
  if (chain.isOver) return 0;
  const { cursor, after } = chain.page ?? {};
  const page = await app.judge.ask(model, chain.question, app.nowMs, { limit: chain.limit, cursor, after });
  chain.page = page;
  chain.isOver = page.cursor === undefined || page.after === undefined;
  return page.returned;
}

function chainOf(questions: DataQuestions, chance: SeededChance): Chain {
  const drawn = questions.of(chance.oneOf(LISTS));
  // A feed without an end is followed by a test of its own.
  const question = drawn.route === '/v1/history' ? { ...drawn, query: { ...drawn.query, until: '2027-01-01' } } : drawn;
  return { question, limit: 1 + chance.below(9), page: undefined, isOver: false };
}

/** Of a chain of 101 records: in `npm test` the ends, and those that divide what is around its length. */
const LIMITS = IS_WHOLE
  ? Array.from({ length: 100 }, (_, i) => i + 1)
  : [1, 2, 3, 7, 10, 16, 25, 33, 34, 49, 50, 51, 64, 65, 99, 100];

const SINCE_MS = NOW_MS - 5 * DAY_MS;

/** Followed questions; `has` where a published event goes on to be one that is asked for, as one of a company need not. */
const FOLLOWED: readonly {
  readonly query: DataQuestion['query'];
  readonly has?: (event: RecordedCatalogue['events'][number]) => boolean;
}[] = [
  { query: {}, has: () => true },
  { query: { type: 'changed' }, has: ({ type }) => type === 'changed' },
  { query: { type: 'closed' }, has: ({ type }) => type === 'closed' },
  { query: { since: new Date(SINCE_MS).toISOString() }, has: ({ observedMs }) => observedMs >= SINCE_MS },
  { query: { company: 'acme.com' } },
  { query: { company: 'strasse.jobs', type: 'first_observed' } },
];

const followed = (query: DataQuestion['query']): Chain => ({
  question: { route: '/v1/history', query },
  limit: 7,
  page: undefined,
  isOver: false,
});

/** Asks until a page is not full. @returns the number of events */
async function readToTheEnd(chain: Chain, model: NaiveDataApi): Promise<number> {
  let events = 0;
  let returned: number;
  do {
    returned = await goOn(chain, model);
    events += returned;
  } while (returned === chain.limit);
  return events;
}

/** What stays of an event once it was published: all but its company, which is shown as it is now. */
const asPublished = ({ company: _, ...event }: RecordedCatalogue['events'][number]): object => event;

const NATIVE = [
  { seed: 1, jobCount: 0, questions: 20, because: 'is empty' },
  { seed: 2, jobCount: 1, questions: 60, because: 'has one job' },
  { seed: 3, jobCount: 30, closedPercent: 100, questions: 200, because: 'has closed jobs alone' },
  { seed: 4, jobCount: 9, questions: 400, because: 'is smaller than the public pool' },
  { seed: 5, jobCount: 90, oneDay: true, questions: 900, because: 'was observed at one time' },
  { seed: 6, jobCount: 140, closedPercent: 30, questions: 1500, nowMs: MIDNIGHT_MS, because: 'is asked at midnight' },
  { seed: 7, jobCount: 200, closedPercent: 40, questions: 1500, nowMs: MIDNIGHT_MS - 1, because: 'is asked before it' },
  { seed: 8, jobCount: 1100, moreCompanies: 90, closedPercent: 20, questions: 250, because: 'has many companies' },
];

describe('an answer is the one of the model', { timeout: 120_000 }, () => {
  for (const { because, seed, questions, nowMs = NOW_MS, ...shape } of NATIVE) {
    it(`for a catalogue of native records that ${because} (seed ${seed})`, async () => {
      app.nowMs = nowMs;
      app.judge.forgetEvents();
      const chance = new SeededChance(seed);
      await askMany(await serveNative(nativeJobs(chance, shape)), chance, partOf(questions));
      faultless();
    });
  }

  for (const seed of IS_WHOLE ? [21, 22] : [21]) {
    it(`for a catalogue with the history of its feeds (seed ${seed})`, async () => {
      app.nowMs = NOW_MS;
      app.judge.forgetEvents();
      const chance = new SeededChance(seed);
      const history = new GeneratedHistory(chance, join(app.folder, `feeds-${seed}`), NOW_MS - 14 * DAY_MS);
      history.importFeeds(60);
      for (const leavesOut of [false, true]) {
        const recorded = await history.build(app.file, app.nowMs, leavesOut);
        await app.reload();
        await askMany(recorded, chance, partOf(900));
      }
      faultless();
    });
  }
});

describe('a chain of pages', { timeout: 120_000 }, () => {
  it('is the whole list, each record once, at every limit', async () => {
    app.nowMs = NOW_MS;
    app.judge.forgetEvents();
    const recorded = await serveNative(nativeJobs(new SeededChance(31), { jobCount: 101, closedPercent: 20 }));
    const model = modelOf(recorded);
    const lists: readonly DataQuestion[] = [
      { route: '/v1/jobs/search', query: { status: 'any', keyword: 'en' } },
      { route: '/v1/jobs', query: { status: 'any' } },
      { route: '/v1/companies/{domain}/jobs', of: 'acme.com', query: { status: 'any' } },
      { route: '/v1/history', query: {} },
      { route: '/v1/history', query: { until: '2027-01-01' } },
      { route: '/v1/skills', query: {} },
    ];
    for (const question of lists) {
      for (const limit of LIMITS) await app.judge.follow(model, question, app.nowMs, limit);
    }
    faultless();
  });

  for (const seed of IS_WHOLE ? [41, 42, 43] : [41]) {
    it(`goes on rightly in each later catalogue (seed ${seed})`, async () => {
      app.nowMs = NOW_MS;
      app.judge.forgetEvents();
      const chance = new SeededChance(seed);
      let jobs = nativeJobs(chance, { jobCount: 150, closedPercent: 25 });
      let recorded = await serveNative(jobs);
      const questions = new DataQuestions(chance, recorded);
      const chains = Array.from({ length: partOf(150, 50) }, () => chainOf(questions, chance));
      for (let generation = 1; generation <= 6; generation++) {
        const model = modelOf(recorded);
        for (const chain of chains) {
          for (let pages = chance.below(3); pages > 0; pages--) await goOn(chain, model);
          chain.limit = 1 + chance.below(9);
        }
        jobs = laterJobs(chance, jobs, generation);
        recorded = await serveNative(jobs);
      }
      const model = modelOf(recorded);
      for (const chain of chains) while (!chain.isOver) await goOn(chain, model);
      faultless();
    });
  }
});

/** Two questions are one when they differ in spelling alone. */
function meaningOf({ query, ...question }: DataQuestion): string {
  const { status, ...rest } = query;
  const texts = Object.entries({ ...rest, ...(status === 'active' ? {} : { status }) }).map(([name, value = '']) => {
    const timeMs = Date.parse(value);
    return [name, /^\d{4}-/.test(value) && !Number.isNaN(timeMs) ? String(timeMs) : value.toLowerCase()];
  });
  return targetOf({ ...question, query: Object.fromEntries(texts.filter(([, value]) => value !== '')) });
}

describe('a cursor', { timeout: 60_000 }, () => {
  it('is of its question alone, and not one that was bent', async () => {
    app.nowMs = NOW_MS;
    app.judge.forgetEvents();
    const chance = new SeededChance(61);
    const recorded = await serveNative(nativeJobs(chance, { jobCount: 60, closedPercent: 25 }));
    const model = modelOf(recorded);
    const questions = new DataQuestions(chance, recorded);
    const cursors: { readonly question: DataQuestion; readonly cursor: string }[] = [];
    while (cursors.length < 40) {
      const question = questions.of(chance.oneOf(LISTS));
      const { cursor } = await app.judge.ask(model, question, app.nowMs, { limit: 1 });
      if (cursor !== undefined) cursors.push({ question, cursor });
    }
    for (const { question } of cursors) {
      for (const other of cursors) {
        if (meaningOf(other.question) !== meaningOf(question)) await app.judge.refuse(question, other.cursor);
      }
    }
    const { question, cursor } = cursors[0]!;
    for (let place = 0; place < cursor.length; place++) {
      const letter = chance.oneOf([...'AZaz09_-'].filter((one) => one !== cursor[place]));
      await app.judge.refuse(question, cursor.slice(0, place) + letter + cursor.slice(place + 1));
      if (place > 0) await app.judge.refuse(question, cursor.slice(0, place));
    }
    for (const bent of [
      `${cursor}A`,
      `${cursor}=`,
      ` ${cursor}`,
      `${cursor}${cursor}`,
      'A'.repeat(300),
      'A'.repeat(301),
    ]) {
      await app.judge.refuse(question, bent);
    }
    faultless();
  });
});

it('a segment of the path that cannot be decoded is no path', async () => {
  for (const path of [
    '/v1/jobs/%ff',
    '/v1/jobs/%E2%82/history',
    '/v1/jobs/%',
    '/v1/companies/%zz',
    '/v1/companies/%C0%80/jobs',
  ]) {
    const response = await app.fetch(path);
    const { error } = (await response.json()) as { error: { code: string } };
    expect([path, response.status, error.code]).toEqual([path, 404, 'NOT_FOUND']);
  }
});

describe('the entity tag of a public answer', () => {
  const targets = ['/v1/public/overview', '/v1/public/search?q=engineer', '/v1/public/search?q=sales'];
  const tagsOf = async (): Promise<(string | null)[]> =>
    await Promise.all(targets.map(async (target) => (await app.fetch(target)).headers.get('etag')));

  it('is that of the snapshot and the question, at any time, and saves the body', async () => {
    app.nowMs = NOW_MS;
    const jobs = nativeJobs(new SeededChance(71), { jobCount: 30 });
    await serveNative(jobs);
    const tags = await tagsOf();
    expect(new Set(tags).size).toBe(targets.length);
    app.nowMs = NOW_MS + DAY_MS;
    expect(await tagsOf()).toEqual(tags);
    for (const [i, target] of targets.entries()) {
      const spared = await app.fetch(target, { 'if-none-match': `"other", ${tags[i]}` });
      expect([spared.status, await spared.text(), spared.headers.get('etag')]).toEqual([304, '', tags[i]]);
      expect(spared.headers.get('cache-control')).toBe('max-age=60, s-maxage=300, stale-while-revalidate=600');
      expect((await app.fetch(target, { 'if-none-match': tags[(i + 1) % targets.length]! })).status).toBe(200);
    }
    await serveNative(jobs.slice(1));
    expect((await tagsOf()).filter((tag) => tags.includes(tag))).toEqual([]);
  });
});

describe('the history feed', { timeout: 120_000 }, () => {
  // A rebuild takes longer than its questions: one history in `npm test`.
  for (const seed of IS_WHOLE ? [51, 52] : [51]) {
    it(`gives exactly what is new after each rebuild, for ever (seed ${seed})`, async () => {
      app.nowMs = NOW_MS;
      app.judge.forgetEvents();
      const chance = new SeededChance(seed);
      const history = new GeneratedHistory(chance, join(app.folder, `feeds-${seed}`), NOW_MS - 14 * DAY_MS);
      const readers = FOLLOWED.map(({ has, query }) => ({ chain: followed(query), has, events: 0 }));
      let published: RecordedCatalogue['events'] = [];
      for (let rebuild = 0; rebuild < 14; rebuild++) {
        history.importFeeds(2 + chance.below(4));
        const recorded = await history.build(app.file, app.nowMs, rebuild % 3 === 2);
        await app.reload();
        const { events } = recorded;
        expect(events.slice(0, published.length).map(asPublished)).toEqual(published.map(asPublished));
        published = events;
        const model = modelOf(recorded);
        for (const reader of readers) reader.events += await readToTheEnd(reader.chain, model);
      }
      faultless();
      expect(published.length).toBeGreaterThan(100);
      for (const { events, has } of readers) if (has !== undefined) expect(events).toBe(published.filter(has).length);
    });
  }
});

describe('an organization with few credits', () => {
  it('gets what it can pay for, whole, and nothing else', async () => {
    app.nowMs = NOW_MS;
    const chance = new SeededChance(81);
    const recorded = await serveNative(nativeJobs(chance, { jobCount: 60, closedPercent: 25 }));
    const model = modelOf(recorded);
    const questions = new DataQuestions(chance, recorded);
    const poor = await app.judgeOf('poor', 1234);
    for (let i = 0; i < 500; i++) await poor.ask(model, questions.next(), app.nowMs);
    expect(poor.takeFailures()).toEqual({ count: 0, first: [] });
    // What is left at the end pays for no page of ten.
    expect(poor.charged).toBeGreaterThan(1224);
    expect(await app.remaining('poor')).toBe(1234 - poor.charged);
  });
});

describe('the credits of the whole run', () => {
  it('add up exactly, and each of thousands of answers was compared', async () => {
    const { charged, comparisons } = app.judge;
    expect(comparisons).toBeGreaterThanOrEqual(COMPARISONS_MIN);
    expect(charged).toBeGreaterThan(0);
    expect(await app.remaining()).toBe(GRANTED - charged);
  });
});
