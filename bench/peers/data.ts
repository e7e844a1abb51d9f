/**
 * The Jobs Data API beside PostgreSQL: the same rows, the same questions, the same answers (compared before anything is
 * timed), in turn in one process, which has a core to itself, like PostgreSQL.
 *
 *   taskset -c 1 node data.ts --catalogue FILE --host DIR [--rounds 5]      ... bun data.ts
 *
 * Theirs is prepared statements over a unix socket and the same JSON made from their rows: no request, no key, no
 * charge. Ours is measured twice: the answer alone, which is the same work (filters and cursor to the response's text,
 * data-alone.ts), and the whole handler with state in memory, which is more (a request with its key, scope, rate,
 * question, charge, the response and its text). Every call of a list asks for another page or question, so none of ours
 * comes from a cache. Wall-clock times of single calls, one after the other. Prints one JSON line.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { comparedText } from '../../src/catalogue/terms.ts';
import { type AnswersAlone, answersAlone } from '../data-alone.ts';
import { type DataApp, openDataApp } from '../data-app.ts';
import { LARGE } from '../data-catalogue.ts';
import { quantile, RUNTIME } from '../harness.ts';
import { NOW_MS, SEED } from '../synthetic-catalogue.ts';
import { SqlAnswers } from './sql-answers.ts';

const PAGE = 25;
const FAR_PAGE = 10_000;
/** Calls of each side whose answers are compared. */
const COMPARED = 8;
/** Calls of a side over all its rounds; fewer if its time runs out. */
const CALLS = 1000;
const SIDE_MS = 4_000;
const CALLS_MIN = 20;

interface Asked {
  readonly call: number;
  /** The cursor of a walk; undefined at its start. */
  readonly cursor: string | undefined;
}

interface Contest {
  readonly title: string;
  /** Each call begins where the previous one ended. */
  readonly isWalk?: boolean;
  /** Where a walk starts and restarts. */
  readonly start?: { readonly ours: string; readonly theirs: string };
  path(asked: Asked): string;
  /** @param endMs end of the period */
  sql(asked: Asked, endMs: number): Promise<string>;
}

/** One contestant: answers the next call. */
interface Side {
  ask(call: number): Promise<string>;
  seen(text: string): void;
}

interface Data {
  next_cursor?: string | null;
  observation_period?: { end: string };
}
const dataIn = (text: string): Data => (JSON.parse(text) as { data: Data }).data;

interface Sides {
  readonly ours: Side;
  readonly alone: Side;
  readonly theirs: Side;
}

function sidesOf(contest: Contest, app: DataApp, alone: AnswersAlone): Sides {
  const side = (start: string | undefined, ask: (asked: Asked) => Promise<string>): Side => {
    let cursor = start;
    return {
      ask: (call) => ask({ call, cursor }),
      seen(text) {
        if (contest.isWalk) cursor = dataIn(text).next_cursor ?? start;
      },
    };
  };
  return {
    ours: side(contest.start?.ours, async (asked) => {
      const { status, text } = await app.ask(contest.path(asked));
      if (status !== 200) throw new Error(`${contest.title}: ${status} ${text}`);
      return text;
    }),
    alone: side(contest.start?.ours, async (asked) => alone.ask(contest.path(asked))),
    theirs: side(contest.start?.theirs, (asked) => contest.sql(asked, NOW_MS)),
  };
}

/** `data` without its period, which ends when it was asked for. */
const withoutPeriod = (text: string): Data => ({ ...dataIn(text), observation_period: { end: '' } });

/** Compares the answers of the first calls, without cursors, whose form differs between the sides. */
async function compare(contest: Contest, app: DataApp, answers: AnswersAlone): Promise<void> {
  const { alone, ours, theirs } = sidesOf({ ...contest, sql: (asked) => contest.sql(asked, endMs) }, app, answers);
  let endMs = NOW_MS;
  for (let call = 0; call < COMPARED; call++) {
    const own = await ours.ask(call);
    endMs = Date.parse(dataIn(own).observation_period?.end ?? '') || NOW_MS;
    deepStrictEqual(withoutPeriod(await alone.ask(call)), withoutPeriod(own), contest.title);
    const other = await theirs.ask(call);
    const [{ next_cursor: ownNext, ...ownData }, { next_cursor: otherNext, ...otherData }] = [
      dataIn(own),
      dataIn(other),
    ];
    deepStrictEqual(otherData, ownData, contest.title);
    deepStrictEqual(otherNext == null, ownNext == null, contest.title);
    ours.seen(own);
    alone.seen(own);
    theirs.seen(other);
  }
}

async function timed(side: Side, from: number, calls: number, millis: number[]): Promise<void> {
  for (let call = from; call < from + calls; call++) {
    const startMs = performance.now();
    const text = await side.ask(call);
    millis.push(performance.now() - startMs);
    side.seen(text);
  }
}

/** Milliseconds. */
interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly calls: number;
}

interface Row {
  readonly question: string;
  /** The whole handler. */
  readonly ours: Times;
  /** The answer alone. */
  readonly alone: Times;
  readonly postgres: Times;
}

async function measured(contest: Contest, app: DataApp, answers: AnswersAlone, rounds: number): Promise<Row> {
  await compare(contest, app, answers);
  const sides = sidesOf(contest, app, answers);
  const contestants = [];
  for (const side of [sides.ours, sides.alone, sides.theirs]) {
    const warmUp: number[] = [];
    // Excludes the rest of the compiler's work.
    const startMs = performance.now();
    while (warmUp.length < 3 || (warmUp.length < 300 && performance.now() - startMs < SIDE_MS / 8)) {
      await timed(side, COMPARED + warmUp.length, 1, warmUp);
    }
    const usual = quantile(Float64Array.from(warmUp).sort(), 0.5);
    const calls = Math.max(CALLS_MIN, Math.min(CALLS, SIDE_MS / usual));
    contestants.push({ side, millis: [] as number[], from: COMPARED + warmUp.length, each: Math.ceil(calls / rounds) });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { each, from, millis, side } of contestants) await timed(side, from + round * each, each, millis);
  }
  const [ours, alone, postgres] = contestants.map(({ millis }) => {
    const sorted = Float64Array.from(millis).sort();
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), calls: sorted.length };
  });
  return { question: contest.title, ours: ours!, alone: alone!, postgres: postgres! };
}

/** The cursors of both sides after `count` jobs. */
async function cursorsAfter(count: number, app: DataApp, sql: SqlAnswers): Promise<{ ours: string; theirs: string }> {
  const limit = 100;
  let ours: string | undefined;
  let theirs: string | undefined;
  for (let seen = 0; seen < count; seen += limit) {
    const path = `/v1/jobs?limit=${limit}${ours === undefined ? '' : `&cursor=${ours}`}`;
    ours = (await app.dataOf<Data>(path)).next_cursor ?? undefined;
    theirs = dataIn(await sql.list({ limit, cursor: theirs })).next_cursor ?? undefined;
    ok(ours !== undefined && theirs !== undefined, `the catalogue ends before ${count} jobs`);
  }
  return { ours: ours!, theirs: theirs! };
}

function contestsOf(app: DataApp, sql: SqlAnswers, farPage: number, far: { ours: string; theirs: string }): Contest[] {
  const { snapshot } = app.app.catalogue.current()!.catalogue;
  const random = new SeededRandom(SEED, 9);
  const rows = Array.from({ length: 20_000 }, () => Math.floor(random.unit() * snapshot.activeCount));
  const ids = rows.map((row) => snapshot.cold.rowAt(row).id);
  const idAt = (call: number): string => ids[call % ids.length]!;
  const wordsAt = (call: number): string[] => {
    const title = snapshot.titles.textOf(snapshot.title[rows[call % rows.length]!]!);
    const words = comparedText(title)
      .split(' ')
      .filter((word) => /^[a-z]{3,}$/.test(word));
    return words.length === 0 ? ['engineer'] : words;
  };
  const placeAt = (call: number): string => {
    const location = snapshot.locations.textOf(snapshot.location[rows[call % rows.length]!]!);
    return (
      comparedText(location)
        .split(/[ ,]+/)
        .find((word) => word.length >= 3) ?? 'germany'
    );
  };
  const encoded = (words: readonly string[]): string => words.map(encodeURIComponent).join('+');
  const page = ({ cursor }: Asked) => ({ limit: PAGE, cursor });
  const first = { limit: PAGE, cursor: undefined };
  const andCursor = ({ cursor }: Asked): string => (cursor === undefined ? '' : `&cursor=${cursor}`);
  // A moment before every observation, different in each call.
  const sinceAt = (call: number): number => Date.UTC(2001, 0, 1) + call * 1000;
  return [
    {
      title: 'first page of all active jobs',
      path: ({ call }) => `/v1/jobs?limit=${PAGE}&observed_since=${new Date(sinceAt(call)).toISOString()}`,
      sql: ({ call }) => sql.listSince(first, sinceAt(call)),
    },
    {
      title: 'the same page again',
      path: () => `/v1/jobs?limit=${PAGE}`,
      sql: () => sql.list(first),
    },
    {
      title: `page ${farPage.toLocaleString('en-US')} and on`,
      isWalk: true,
      start: far,
      path: (asked) => `/v1/jobs?limit=${PAGE}${andCursor(asked)}`,
      sql: (asked) => sql.list(page(asked)),
    },
    {
      title: 'text search: two words of a title',
      path: ({ call }) => `/v1/jobs/search?limit=${PAGE}&keyword=${encoded(wordsAt(call).slice(0, 2))}`,
      sql: ({ call }) => sql.search(first, wordsAt(call).slice(0, 2), []),
    },
    {
      title: 'text search: a word and a place',
      path: ({ call }) =>
        `/v1/jobs/search?limit=${PAGE}&keyword=${encoded([wordsAt(call).at(-1)!])}&location=${encoded([placeAt(call)])}`,
      sql: ({ call }) => sql.search(first, [wordsAt(call).at(-1)!], [placeAt(call)]),
    },
    {
      title: 'job with its description',
      path: ({ call }) => `/v1/jobs/${idAt(call)}`,
      sql: ({ call }) => sql.job(idAt(call)),
    },
    {
      title: 'company of 20,000 jobs: its pages',
      isWalk: true,
      path: (asked) => `/v1/companies/${LARGE}/jobs?limit=${PAGE}${andCursor(asked)}`,
      sql: (asked) => sql.companyJobs(page(asked), LARGE, 'Large'),
    },
    {
      title: 'company of 20,000 jobs: its counts',
      path: () => `/v1/companies/${LARGE}`,
      sql: () => sql.company(LARGE),
    },
    { title: 'overview metrics', path: () => '/v1/metrics/overview', sql: () => sql.overview() },
    { title: 'hiring metrics', path: () => '/v1/metrics/hiring', sql: (_, endMs) => sql.hiring(endMs) },
    {
      title: 'the feed, page by page',
      isWalk: true,
      path: (asked) => `/v1/history?limit=${PAGE}${andCursor(asked)}`,
      sql: (asked) => sql.feed(page(asked)),
    },
    {
      title: 'the feed of the company',
      isWalk: true,
      path: (asked) => `/v1/history?limit=${PAGE}&company=${LARGE}${andCursor(asked)}`,
      sql: (asked) => sql.feed(page(asked), LARGE),
    },
  ];
}

const { values } = parseArgs({
  options: {
    catalogue: { type: 'string' },
    host: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});
if (values.catalogue === undefined || values.host === undefined) throw new Error('--catalogue and --host are needed');

const answers = answersAlone();
const app = await openDataApp(values.catalogue, answers.surfaces);
const sql = await SqlAnswers.open(values.host);
const { activeCount, rowCount } = app.app.catalogue.current()!.catalogue.snapshot;
const farPage = Math.min(FAR_PAGE, Math.floor(activeCount / PAGE / 2));
const far = await cursorsAfter((farPage - 1) * PAGE, app, sql);
const rows: Row[] = [];
for (const contest of contestsOf(app, sql, farPage, far)) {
  if (!contest.title.includes(values.only)) continue;
  rows.push(await measured(contest, app, answers, Number(values.rounds)));
}
await sql.close();
await app.close();
console.log(JSON.stringify({ runtime: RUNTIME, jobs: rowCount, rows }));
process.exit(0);
