/**
 * The guard on the aggregation hot path: the engine against the row-by-row model of the tests, in turn in one process, so
 * that a slow machine slows both. The exit code is 1 when a question's ratio stays below its floor.
 *
 *   node bench/guard.ts [--show]      bun bench/guard.ts [--show]      --show prints ratios only
 *
 * Processor time is counted, so what the scheduler gives to others does not; and a round that was disturbed in spite of that
 * is only ever longer, so the lowest tenth of the rounds stands for all. What can still go wrong goes one way: a compiler
 * that had no core to work on, a cache that somebody else filled, make the engine look slow. So a question below its floor
 * gets LOOKS looks in each of PROCESSES processes, and the best one counts.
 *
 * A floor is about 0.43 of what the better half of runs on a busy machine showed. Floors between no change and a regression of 1.5x were
 * tried, tripped on such a regression ten times of ten, and later on nothing too: ratios come in states that lie 1.6x apart
 * (`signals, department`). So what is caught for certain is a regression of about 2.5x.
 * Measured on two cores of a Xeon at 2.5 GHz, load 12 to 19, Node 26.10.0 and Bun 1.4.5; `--show` on another kind of
 * machine says whether they fit it.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { companyActivity } from '../src/catalogue/company.ts';
import { observationPeriodEndingAt } from '../src/catalogue/period.ts';
import { search } from '../src/catalogue/search.ts';
import { signals } from '../src/catalogue/signals.ts';
import { NaiveCatalogue } from '../test/support/naive-catalogue.ts';
import { openedJobs } from '../test/support/opened-jobs.ts';
import { isBun, quantile, RUNTIME } from './harness.ts';
import {
  companiesBySize,
  domainAt,
  modelRows,
  modelRowsOf,
  NOW_MS,
  SEARCH_QUESTIONS,
  SIGNAL_QUESTIONS,
  SMALL_JOB_COUNT,
  syntheticJobs,
} from './synthetic-catalogue.ts';

interface Question {
  readonly title: string;
  engine(): unknown;
  model(): unknown;
}

/** How many times the model's time is the engine's, at least: on Node, on Bun. */
const FLOORS: Readonly<Record<string, readonly [node: number, bun: number]>> = {
  'signals, selective': [172, 380],
  'signals, medium': [96, 168],
  'signals, department': [18, 33],
  'signals, eight terms': [121, 202],
  'signals, one letter': [120, 184],
  'signals, no filter, computed': [112, 118],
  'search, common': [680, 1892],
  'search, selective': [556, 1419],
  'search, nothing': [1397, 3179],
  'company, largest': [6.6, 9.6],
};

const DAY_MS = 86_400_000;
const LOOKS = 3;
const PROCESSES = 3;
/** Rounds of one look, each of about so much processor time for the engine; the model answers for as long, at least once. */
const ROUNDS = 20;
const ROUND_CPU_MS = 2;
const WARM_UP_CALLS = 4_000;

function questionsOf(jobCount: number): Question[] {
  const snapshot = openedJobs(syntheticJobs(jobCount));
  const catalogue = new Catalogue(snapshot);
  catalogue.warm();
  const model = new NaiveCatalogue(modelRows(snapshot));
  const period = observationPeriodEndingAt(NOW_MS);
  const questions: Question[] = [];
  for (const [title, filters] of Object.entries(SIGNAL_QUESTIONS)) {
    questions.push({
      title: `signals, ${title}`,
      engine: () => signals(catalogue, filters, 5, period),
      model: () => model.signals(filters, 5, period),
    });
  }
  // Two periods in turn, so that no answer is the kept one.
  const periods = [period, observationPeriodEndingAt(NOW_MS - DAY_MS)] as const;
  const turns = { engine: 0, model: 0 };
  questions.push({
    title: 'signals, no filter, computed',
    engine: () => signals(catalogue, {}, 5, periods[turns.engine++ % 2 === 0 ? 0 : 1]),
    model: () => model.signals({}, 5, periods[turns.model++ % 2 === 0 ? 0 : 1]),
  });
  for (const [title, filters] of Object.entries(SEARCH_QUESTIONS)) {
    // Without a filter there is nothing to select, and what is left is the copying of ten jobs.
    if (Object.keys(filters).length === 0) continue;
    questions.push({
      title: `search, ${title}`,
      engine: () => search(catalogue, filters, 10),
      model: () => model.search(filters, 10),
    });
  }
  const largest = companiesBySize(snapshot)[0]!;
  const domain = domainAt(snapshot, largest);
  const companyModel = new NaiveCatalogue(modelRowsOf(snapshot, largest));
  questions.push({
    title: 'company, largest',
    engine: () => companyActivity(catalogue, domain),
    model: () => companyModel.company(domain),
  });
  return questions;
}

const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Processor time of a call, µs. */
function roundOf(run: () => unknown, calls: number): number {
  const before = cpuMicros();
  for (let i = 0; i < calls; i++) run();
  return (cpuMicros() - before) / calls;
}

/** Calls that fill a round. */
function callsOf(run: () => unknown): number {
  const probe = Math.max(roundOf(run, 3), 0.5);
  return Math.max(1, Math.round((ROUND_CPU_MS * 1000) / probe));
}

/** How many times the model's time is the engine's. */
function ratioOf({ engine, model }: Question): number {
  const engineCalls = callsOf(engine);
  const modelCalls = callsOf(model);
  const engineMicros: number[] = [];
  const modelMicros: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    engineMicros.push(roundOf(engine, engineCalls));
    modelMicros.push(roundOf(model, modelCalls));
  }
  const low = (micros: number[]): number => quantile(Float64Array.from(micros).sort(), 0.1);
  return low(modelMicros) / low(engineMicros);
}

const { values } = parseArgs({
  options: {
    show: { type: 'boolean', default: false },
    /** For the processes that this one starts: titles to look at, and which process it is. */
    only: { type: 'string', multiple: true, default: [] },
    process: { type: 'string', default: '1' },
  },
});

let open = questionsOf(SMALL_JOB_COUNT).filter(({ title }) => values.only.length === 0 || values.only.includes(title));
for (const { title, engine, model } of open) {
  if (FLOORS[title] === undefined) throw new Error(`${title} has no floor`);
  deepStrictEqual(engine(), model());
  for (let i = 0; i < WARM_UP_CALLS; i++) engine();
  for (let i = 0; i < 5; i++) model();
}
const seen = new Map(open.map(({ title }) => [title, [] as number[]]));
for (let look = 0; look < LOOKS && open.length > 0; look++) {
  open = open.filter((question) => {
    const ratio = ratioOf(question);
    seen.get(question.title)!.push(ratio);
    return values.show || ratio < FLOORS[question.title]![isBun ? 1 : 0];
  });
}
for (const [title, ratios] of seen) {
  const isBelow = !values.show && open.some((question) => question.title === title);
  const floor = FLOORS[title]![isBun ? 1 : 0];
  const shown = ratios.map((ratio) => ratio.toFixed(1)).join(', ');
  console.log(`${isBelow ? 'below' : 'ok   '} ${title.padEnd(30)} ${shown} times the model, floor ${floor}`);
}
if (!values.show && open.length > 0) {
  const number = Number(values.process);
  if (number < PROCESSES) {
    const words = open.flatMap(({ title }) => ['--only', title]);
    const again = [fileURLToPath(import.meta.url), ...words, '--process', String(number + 1)];
    process.exitCode = spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1;
  } else {
    const titles = open.map(({ title }) => title).join('; ');
    console.log(`${RUNTIME}: slower than the floor in every look: ${titles}`);
    process.exitCode = 1;
  }
}
