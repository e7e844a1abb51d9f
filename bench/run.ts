/**
 * The bench suite. Each question runs in a fresh process of the runtime that runs this one, over one synthetic catalogue,
 * and checks its answers before it is timed.
 *
 *   npm run bench [-- --only NAME]... [--size small|full] [--out FILE] [--catalogue FILE] [--data-catalogue FILE]
 *   bun bench/run.ts ...
 *   npm run bench -- --compare before.json after.json
 *
 * Prints a table and writes JSON with machine, runtime and commit, to bench/results/ unless `--out` names a file.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SMALL_DATA_JOB_COUNT, writeDataCatalogue } from './data-catalogue.ts';
import { type Context, type Figure, type Measure, RUNTIME, type Size } from './harness.ts';
import { FULL_JOB_COUNT, SMALL_JOB_COUNT, writeSyntheticCatalogue } from './synthetic-catalogue.ts';

type Question = () => Promise<{ readonly measure: Measure }>;

const QUESTIONS: Readonly<Record<string, Question>> = {
  signals: () => import('./signals.ts'),
  company: () => import('./company.ts'),
  companies: () => import('./companies.ts'),
  search: () => import('./search.ts'),
  listing: () => import('./listing.ts'),
  'data-api': () => import('./data-api.ts'),
  'data-memory': () => import('./data-memory.ts'),
  'snapshot-load': () => import('./snapshot-load.ts'),
  descriptions: () => import('./descriptions.ts'),
  offer: () => import('./offer.ts'),
  verification: () => import('./verification.ts'),
  reservation: () => import('./reservation.ts'),
  'callback-store': () => import('./callback-store.ts'),
  'full-callbacks': () => import('./full-callbacks.ts'),
  reads: () => import('./reads.ts'),
  waits: () => import('./waits.ts'),
  state: () => import('./state.ts'),
  postgres: () => import('./postgres.ts'),
  skills: () => import('./skills.ts'),
  split: () => import('./split.ts'),
  watch: () => import('./watch.ts'),
};
const NEED_CATALOGUE = ['signals', 'company', 'companies', 'search', 'snapshot-load', 'offer', 'split'];
const NEED_DATA_CATALOGUE = ['listing', 'data-api', 'data-memory'];

/** Files that are there already. */
interface Given {
  readonly catalogue: string | undefined;
  readonly dataCatalogue: string | undefined;
}

export interface Results {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryMib: number; readonly load: number };
  readonly runtime: string;
  readonly commit: string;
  readonly size: Size;
  readonly startedAt: string;
  readonly questions: Record<string, Figure[]>;
}

/** Smaller changes are noise of the machine. */
const MOVED_RATIO = 1.2;
const HERE = dirname(fileURLToPath(import.meta.url));

function commitOf(): string {
  const git = (...words: string[]): string =>
    spawnSync('git', ['-C', HERE, ...words], { encoding: 'utf8' }).stdout?.trim() ?? '';
  const commit = git('rev-parse', '--short=9', 'HEAD');
  return commit === '' ? 'unknown' : `${commit}${git('status', '--porcelain', '-uno') === '' ? '' : '+changes'}`;
}

const digits = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

function lineOf({ name, value, unit, low, high, note }: Figure): string {
  const spread = low === undefined || high === undefined ? '' : `${digits(low)} .. ${digits(high)}`;
  return `  ${name.padEnd(46)} ${digits(value).padStart(9)} ${unit.padEnd(3)} ${spread.padEnd(20)} ${note ?? ''}`.trimEnd();
}

/** Runs the question in a fresh process, whose last line is the figures. */
async function measuredApart(name: string, context: Context): Promise<Figure[]> {
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      fileURLToPath(import.meta.url),
      '--child',
      name,
      '--size',
      context.size,
      '--catalogue',
      context.cataloguePath,
      '--data-catalogue',
      context.dataCataloguePath,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Figure[];
}

/** The named files, or files created in the folder if a question needs them. */
async function contextFor(size: Size, names: readonly string[], given: Given, folder: string): Promise<Context> {
  const jobCount = size === 'small' ? SMALL_JOB_COUNT : FULL_JOB_COUNT;
  const cataloguePath = given.catalogue ?? join(folder, 'catalogue.snapshot');
  if (given.catalogue === undefined && names.some((name) => NEED_CATALOGUE.includes(name))) {
    console.error(`making a catalogue of ${jobCount} jobs (--catalogue FILE uses an existing one)`);
    await writeSyntheticCatalogue(cataloguePath, jobCount);
  }
  const dataCataloguePath = given.dataCatalogue ?? join(folder, 'data.snapshot');
  if (given.dataCatalogue === undefined && names.some((name) => NEED_DATA_CATALOGUE.includes(name))) {
    console.error(`making one with descriptions and history (--data-catalogue FILE uses an existing one)`);
    writeDataCatalogue(dataCataloguePath, size === 'small' ? SMALL_DATA_JOB_COUNT : FULL_JOB_COUNT);
  }
  return { size, cataloguePath, dataCataloguePath };
}

async function runAll(size: Size, names: readonly string[], given: Given, out: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'paygrade-bench-'));
  try {
    const context = await contextFor(size, names, given, directory);
    const results: Results = {
      machine: {
        cpu: cpus()[0]?.model ?? 'unknown',
        cores: cpus().length,
        memoryMib: Math.round(totalmem() / 2 ** 20),
        load: loadavg()[0] ?? 0,
      },
      runtime: RUNTIME,
      commit: commitOf(),
      size,
      startedAt: new Date().toISOString(),
      questions: {},
    };
    console.log(
      `${results.runtime}, ${results.commit}, ${size}; ${results.machine.cpu}, ${results.machine.cores} cores`,
    );
    for (const name of names) {
      console.log(name);
      const figures = await measuredApart(name, context);
      results.questions[name] = figures;
      for (const figure of figures) console.log(lineOf(figure));
    }
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(`${out}.tmp`, `${JSON.stringify(results, null, 2)}\n`);
    renameSync(`${out}.tmp`, out);
    console.error(`written to ${out}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readResults(path: string): Results {
  try {
    const results = JSON.parse(readFileSync(path, 'utf8')) as Partial<Results>;
    if (typeof results.questions === 'object') return results as Results;
  } catch (failure) {
    wrong(`${path}: ${(failure as Error).message}`);
  }
  return wrong(`${path}: holds no bench results`);
}

/** Prints the figures that moved by more than MOVED_RATIO and beyond both quartiles; counts the others. */
function compare(beforePath: string, afterPath: string): void {
  const before = readResults(beforePath);
  const after = readResults(afterPath);
  const header = (path: string, { runtime, commit, size, startedAt }: Results): string =>
    `${path}: ${runtime}, ${commit}, ${size}, ${startedAt}`;
  console.log(`${header(beforePath, before)}\n${header(afterPath, after)}`);
  if (before.size !== after.size) console.log('the sizes differ: the figures cannot be compared');
  let still = 0;
  for (const [question, figures] of Object.entries(after.questions)) {
    for (const now of figures) {
      const then = before.questions[question]?.find(({ name, unit }) => name === now.name && unit === now.unit);
      if (then === undefined) {
        console.log(`  ${question}: ${now.name}: new, ${digits(now.value)} ${now.unit}`);
        continue;
      }
      const ratio = now.value / then.value;
      const apart =
        (now.low ?? now.value) > (then.high ?? then.value) || (now.high ?? now.value) < (then.low ?? then.value);
      if (!apart || (ratio < MOVED_RATIO && ratio > 1 / MOVED_RATIO)) {
        still++;
        continue;
      }
      const isBetter = now.unit === '/s' ? ratio > 1 : ratio < 1;
      const values = `${digits(then.value)} -> ${digits(now.value)} ${now.unit}`;
      console.log(`  ${question}: ${now.name}: ${values}, x ${ratio.toFixed(2)}, ${isBetter ? 'better' : 'worse'}`);
    }
    for (const then of before.questions[question] ?? []) {
      if (!figures.some(({ name }) => name === then.name)) console.log(`  ${question}: ${then.name}: gone`);
    }
  }
  console.log(`${still} figures did not move beyond a factor of ${MOVED_RATIO} or their own spread`);
}

function wrong(reason: string): never {
  console.error(reason);
  process.exit(2);
}

const { values, positionals } = (() => {
  try {
    return parseArgs({
      options: {
        size: { type: 'string', default: 'full' },
        only: { type: 'string', multiple: true, default: [] },
        out: { type: 'string' },
        catalogue: { type: 'string' },
        'data-catalogue': { type: 'string' },
        compare: { type: 'boolean', default: false },
        child: { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return wrong((error as Error).message);
  }
})();

const names = Object.keys(QUESTIONS);
const { size, only } = values;
if (size !== 'small' && size !== 'full') wrong('--size must be small or full');
for (const name of only) if (!names.includes(name)) wrong(`--only ${name}: the questions are ${names.join(', ')}`);
if (values.compare) {
  const [before, after] = positionals;
  if (before === undefined || after === undefined || positionals.length > 2) wrong('--compare needs two files');
  compare(before, after);
} else if (positionals.length > 0) {
  wrong(`${positionals[0]}: unknown argument`);
} else if (values.child === undefined) {
  const label = RUNTIME.toLowerCase().replace(' ', '-');
  const given = { catalogue: values.catalogue, dataCatalogue: values['data-catalogue'] };
  const out = values.out ?? join(HERE, 'results', `${label}-${size}-${commitOf()}.local.json`);
  await runAll(size, only.length === 0 ? names : only, given, out);
} else {
  const question = QUESTIONS[values.child] ?? wrong(`--child ${values.child}: no such question`);
  const { measure } = await question();
  const figures = await measure({
    size,
    cataloguePath: values.catalogue ?? '',
    dataCataloguePath: values['data-catalogue'] ?? '',
  });
  console.log(JSON.stringify(figures));
}
