/**
 * The Jobs Data API through the whole handler, in this process: a request with its key, scope, rate, question, charge, and the
 * response's text. Every answer is checked before it is timed. The file is in the page cache, the state in memory.
 *
 * Then the cost of a keyed page of 25 records, relative to a constant answer of the same length from a keyless route of
 * the same app: processor time, measured alternately, as a ratio with its 95 % interval over the rounds; and where the
 * time of a page goes (data-parts.ts).
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import * as v from 'valibot';
import { SURFACES } from '../src/app/modules.ts';
import { JsonText } from '../src/http/answers.ts';
import { bind } from '../src/http/operation.ts';
import { route } from '../src/http/route.ts';
import { defineModule } from '../src/modules/module.ts';
import { type DataAnswer, type DataApp, openDataApp } from './data-app.ts';
import { LARGE } from './data-catalogue.ts';
import { partsOfPage } from './data-parts.ts';
import { type Context, cpuMicros, type Figure, figureOfCalls, median, type Size, sized } from './harness.ts';

const PAGE = 25;
/** Different jobs whose details are asked for. */
const DETAIL_JOBS = 1300;
const RATIO_ROUNDS = 15;
/** Rounds before the measured ones: Bun's compilers are done after some 50,000 calls. */
const WARM_UP_ROUNDS = 25;
/** Quantile of Student's distribution: two-sided 95 %, RATIO_ROUNDS - 1 degrees of freedom. */
const STUDENT = 2.145;
const PAGE_PATH = `/v1/jobs?limit=${PAGE}`;

// ---- the surface ----

interface Data {
  readonly jobs?: readonly { readonly id: string; readonly company_domain: string | null }[];
  readonly events?: readonly { readonly id: string }[];
  readonly next_cursor?: string | null;
}
const dataIn = (text: string): Data => (JSON.parse(text) as { data: Data }).data;
const nextOf = (text: string): string | undefined => dataIn(text).next_cursor ?? undefined;

interface Question {
  readonly title: string;
  /** Where a walk through pages begins. */
  readonly start?: string;
  readonly isWalk?: boolean;
  path(call: number, cursor: string | undefined): string;
  check(answer: DataAnswer): void;
}

const hasRecords = ({ headers, text }: DataAnswer): void => {
  const { events, jobs } = dataIn(text);
  deepStrictEqual((jobs ?? events)!.length, PAGE);
  deepStrictEqual(new Set((jobs ?? events)!.map(({ id }) => id)).size, PAGE);
  deepStrictEqual(headers.get('x-credits-charged'), String(PAGE));
};
const ofCompany = (answer: DataAnswer): void => {
  hasRecords(answer);
  ok(dataIn(answer.text).jobs!.every(({ company_domain }) => company_domain === LARGE));
};
const says =
  (expected: object, cost: number) =>
  ({ headers, text }: DataAnswer): void => {
    const data = dataIn(text) as Record<string, unknown>;
    for (const [name, value] of Object.entries(expected)) deepStrictEqual(data[name], value, name);
    deepStrictEqual(headers.get('x-credits-charged'), String(cost));
  };

/** The cursor after `count` jobs; checks that the pages up to it repeat none. */
async function cursorAfter(count: number, { dataOf }: DataApp): Promise<string> {
  const limit = 100;
  const ids = new Set<string>();
  let cursor: string | null | undefined;
  while (ids.size < count) {
    const data: Data = await dataOf(`/v1/jobs?limit=${limit}${cursor == null ? '' : `&cursor=${cursor}`}`);
    const known = ids.size;
    for (const { id } of data.jobs!) ids.add(id);
    deepStrictEqual(ids.size, known + limit);
    cursor = data.next_cursor;
    ok(cursor != null, `the catalogue has no ${count} active jobs`);
  }
  return cursor!;
}

function questionsOf(app: DataApp, farPage: number, far: string): Question[] {
  const { snapshot } = app.app.catalogue.current()!.catalogue;
  const company = snapshot.companyOf(LARGE)!;
  const ofLarge = snapshot.activeCountOf(company);
  const closedOfLarge = snapshot.companyOffsets[company + 1]! - snapshot.companyOffsets[company]! - ofLarge;
  const jobs = Array.from({ length: DETAIL_JOBS }, (_, i) => snapshot.job((i * 7919) % snapshot.rowCount));
  const since = (call: number): string => new Date(Date.UTC(2001, 0, 1) + call * 1000).toISOString();
  const andCursor = (cursor: string | undefined): string => (cursor === undefined ? '' : `&cursor=${cursor}`);
  let detailCall = 0;
  return [
    { title: 'page 1, again', path: () => PAGE_PATH, check: hasRecords },
    {
      title: 'page 1, another question each time',
      path: (call) => `${PAGE_PATH}&observed_since=${since(call)}`,
      check: hasRecords,
    },
    {
      title: `page ${farPage} and on`,
      start: far,
      isWalk: true,
      path: (_, cursor) => PAGE_PATH + andCursor(cursor),
      check: hasRecords,
    },
    {
      title: 'a job with its description',
      path: (call) => {
        detailCall = call % DETAIL_JOBS;
        return `/v1/jobs/${jobs[detailCall]!.id}`;
      },
      check: ({ text }) => {
        const { description, id } = (dataIn(text) as { job: { description: string; id: string } }).job;
        deepStrictEqual([id, description], [jobs[detailCall]!.id, jobs[detailCall]!.description]);
        ok(description.length > 100);
      },
    },
    {
      title: 'pages of the large company',
      isWalk: true,
      path: (_, cursor) => `/v1/companies/${LARGE}/jobs?limit=${PAGE}${andCursor(cursor)}`,
      check: ofCompany,
    },
    {
      title: 'counts of the large company',
      path: () => `/v1/companies/${LARGE}`,
      check: says({ active_job_count: ofLarge, closed_job_count: closedOfLarge }, 2),
    },
    {
      title: 'overview',
      path: () => '/v1/metrics/overview',
      check: says({ active_jobs: snapshot.activeCount, closed_jobs: snapshot.rowCount - snapshot.activeCount }, 2),
    },
    { title: 'hiring', path: () => '/v1/metrics/hiring', check: says({ no_longer_observed_jobs: 0 }, 5) },
    {
      title: 'pages of the feed',
      isWalk: true,
      path: (_, cursor) => `/v1/history?limit=${PAGE}${andCursor(cursor)}`,
      check: hasRecords,
    },
  ];
}

/** Single calls: their median and quartiles, the 99th percentile as a note. */
async function called({ check, isWalk, path, start, title }: Question, size: Size, app: DataApp): Promise<Figure> {
  let cursor = start;
  const ask = async (call: number): Promise<{ answer: DataAnswer; micros: number }> => {
    const startMs = performance.now();
    const answer = await app.ask(path(call, cursor));
    const micros = (performance.now() - startMs) * 1000;
    if (isWalk) cursor = nextOf(answer.text) ?? start;
    return { answer, micros };
  };
  const warmUpCalls = sized(size, 20, 300);
  for (let call = 0; call < warmUpCalls; call++) {
    const { answer } = await ask(call);
    ok(answer.status === 200, `${title}: ${answer.status} ${answer.text}`);
    if (!isWalk || cursor !== start) check(answer);
  }
  const micros: number[] = [];
  for (let call = 0; call < sized(size, 60, 1000); call++) micros.push((await ask(warmUpCalls + call)).micros);
  return figureOfCalls(title, micros);
}

// ---- beside a constant answer ----

/** The surface with a route that answers one text. */
function withConstant(text: () => string) {
  const constant = route<object>()({
    operation: 'constant',
    method: 'GET',
    path: '/constant',
    summary: 'A constant',
    access: [],
    answer: v.unknown(),
    errors: [],
    examples: { answer: null },
    handle: () => new JsonText(text()) as never,
  });
  const module = defineModule({
    tag: 'constant',
    settings: {},
    routes: [constant],
    open: () => ({ operations: bind('constant', [constant], {}) }),
  });
  return SURFACES.map((surface) =>
    surface.name === 'data' ? { ...surface, modules: [...surface.modules, module] } : surface,
  );
}

type Ask = (call: number) => Promise<unknown>;

/** Processor time of a call, µs. */
async function microsOf(ask: Ask, from: number, calls: number): Promise<number> {
  const before = cpuMicros();
  for (let call = from; call < from + calls; call++) await ask(call);
  return (cpuMicros() - before) / calls;
}

/** The geometric mean of the rounds' ratios with its 95 % interval. */
async function ratio(name: string, size: Size, asked: Ask, constant: Ask): Promise<Figure> {
  const calls = sized(size, 100, 2000);
  let from = 0;
  const logs: number[] = [];
  const micros: number[][] = [[], []];
  for (let round = -WARM_UP_ROUNDS; round < RATIO_ROUNDS; round++) {
    const own = await microsOf(asked, from, calls);
    const other = await microsOf(constant, from, calls);
    from += calls;
    if (round < 0) continue;
    logs.push(Math.log(own / other));
    micros[0]!.push(own);
    micros[1]!.push(other);
  }
  const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length;
  const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logs.length - 1);
  const reach = STUDENT * Math.sqrt(variance / logs.length);
  const [own, other] = micros.map((each) => median(each).toFixed(1));
  return {
    name,
    unit: 'x',
    value: Math.exp(mean),
    low: Math.exp(mean - reach),
    high: Math.exp(mean + reach),
    note: `95 % interval of ${logs.length} rounds; ${own} and ${other} µs`,
  };
}

async function ratios(size: Size, cataloguePath: string): Promise<Figure[]> {
  let text = '';
  const data = await openDataApp(
    cataloguePath,
    withConstant(() => text),
  );
  const far = await cursorAfter(sized(size, 100, 1000) * PAGE, data);
  ({ text } = await data.ask(PAGE_PATH));
  const answer = await data.ask('/constant');
  deepStrictEqual(answer.status, 200);
  deepStrictEqual(answer.text, text);
  // Reads bytes, as a client would receive them: Bun returns a constant text without touching it.
  const asking = (path: string): Ask => {
    return async () => (await data.app.fetch(data.requestTo(path))).arrayBuffer();
  };
  const constant = asking('/constant');
  let cursor = far;
  // Gives the constant answer the walk's own work too: one search for the cursor in the text.
  const walk: Ask = async () => {
    const response = await data.app.fetch(data.requestTo(`${PAGE_PATH}&cursor=${cursor}`));
    ok(response.status === 200);
    cursor = cursorIn(await response.arrayBuffer()) ?? far;
  };
  const constantWalk: Ask = async () => {
    cursorIn(await (await data.app.fetch(data.requestTo('/constant'))).arrayBuffer());
  };
  const figures = [
    await ratio(`a keyed page of ${PAGE} / a constant`, size, asking(PAGE_PATH), constant),
    await ratio('the same, a page never asked for before', size, walk, constantWalk),
  ];
  await data.close();
  return figures;
}

const CURSOR = '"next_cursor":"';
/** undefined after the last page. */
function cursorIn(body: ArrayBuffer): string | undefined {
  const text = Buffer.from(body);
  const at = text.lastIndexOf(CURSOR);
  const start = at + CURSOR.length;
  return at < 0 ? undefined : text.toString('latin1', start, text.indexOf('"', start));
}

export async function measure({ dataCataloguePath, size }: Context): Promise<Figure[]> {
  const data = await openDataApp(dataCataloguePath);
  const { activeCount } = data.app.catalogue.current()!.catalogue.snapshot;
  const farPage = Math.min(sized(size, 400, 10_000), Math.floor(activeCount / PAGE / 2));
  const far = await cursorAfter((farPage - 1) * PAGE, data);
  const figures: Figure[] = [];
  for (const question of questionsOf(data, farPage, far)) figures.push(await called(question, size, data));
  await data.close();
  return [...figures, ...(await ratios(size, dataCataloguePath)), ...partsOfPage(size, dataCataloguePath)];
}
