/**
 * paygrade beside its peers, each pair in turn, on Node and on Bun; prints the ratios and writes JSON.
 *
 *   npm ci --prefix bench/peers && node bench/peers/run.ts [--only http|queries|load|waits|data] [--pair TITLE]...
 *     [--runtime node|bun|both] [--size small|full] [--catalogue FILE]
 *     [--data-catalogue FILE] [--postgres DIR] [--seconds 3] [--rounds 5] [--out FILE]
 *
 * http: the official middleware, bare servers and a constant response under wrk. queries: DuckDB, node:sqlite and a plain
 * filter on the same cohort. load: a file of JSON lines from the disk to the first answer. waits: parked requests of a bare
 * server; needs 10,100 open files. data: the Jobs Data API beside PostgreSQL, from npm (x64 Linux) or with the binaries in DIR. http, waits and data need Linux; http and data
 * taskset, http wrk too (Debian: apt-get install wrk).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SMALL_DATA_JOB_COUNT, writeDataCatalogue } from '../data-catalogue.ts';
import { FULL_JOB_COUNT, SMALL_JOB_COUNT, writeSyntheticCatalogue } from '../synthetic-catalogue.ts';
import { HTTP_PAIRS, measureHttp } from './http.ts';
import { measureLoad } from './load.ts';
import { fillPostgres, type Postgres, startPostgres } from './postgres.ts';
import { connected } from './sql-answers.ts';
import { measureWaits } from './waits.ts';

const PARTS = ['http', 'queries', 'load', 'waits', 'data'] as const;
const HERE = dirname(fileURLToPath(import.meta.url));

function wrong(reason: string): never {
  console.error(reason);
  process.exit(2);
}

const { values } = (() => {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        pair: { type: 'string', multiple: true, default: [] },
        runtime: { type: 'string', default: 'both' },
        size: { type: 'string', default: 'full' },
        catalogue: { type: 'string' },
        'data-catalogue': { type: 'string' },
        postgres: { type: 'string' },
        seconds: { type: 'string', default: '3' },
        rounds: { type: 'string', default: '5' },
        out: { type: 'string' },
      },
    });
  } catch (error) {
    return wrong((error as Error).message);
  }
})();
const parts: readonly string[] = values.only.length === 0 ? PARTS : values.only;
for (const part of parts) {
  if (!(PARTS as readonly string[]).includes(part)) wrong(`--only ${part}: the parts are ${PARTS.join(', ')}`);
}
for (const pair of values.pair) {
  if (!HTTP_PAIRS.includes(pair)) wrong(`--pair ${pair}: the pairs are ${HTTP_PAIRS.join('; ')}`);
}
if (values.size !== 'small' && values.size !== 'full') wrong('--size must be small or full');
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
if (!Number.isInteger(seconds) || seconds < 1) wrong('--seconds must be a whole number from 1');
if (!Number.isInteger(rounds) || rounds < 1) wrong('--rounds must be a whole number from 1');
if (values.catalogue !== undefined && !existsSync(values.catalogue))
  wrong(`--catalogue ${values.catalogue}: not there`);

/** The project's pinned runtimes when they are installed, else those of the PATH. */
function programOf(name: 'node' | 'bun'): string {
  const pinned = join(HERE, '../../node_modules/.bin', name);
  return existsSync(pinned) ? pinned : name;
}
const runtimes = (['node', 'bun'] as const).filter((name) => values.runtime === 'both' || values.runtime === name);
if (runtimes.length === 0) wrong('--runtime must be node, bun or both');

function textOf(program: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 24 });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout.trim();
}

interface QueryResults {
  readonly rows: {
    readonly question: string;
    readonly micros: Record<string, number>;
    readonly ratios: Record<string, number>;
  }[];
}

/** The catalogue's jobs and events in a database. */
async function dataDatabase(catalogue: string): Promise<Postgres> {
  const jobCount = values.size === 'small' ? SMALL_DATA_JOB_COUNT : FULL_JOB_COUNT;
  if (values['data-catalogue'] === undefined) writeDataCatalogue(catalogue, jobCount);
  const server = await startPostgres(directory, values.postgres);
  try {
    console.error(`filling ${server.version} with ${jobCount} jobs`);
    const client = await connected(server.host);
    await fillPostgres((sql) => client.query(sql), directory, jobCount);
    await client.end();
    return server;
  } catch (failure) {
    await server.stop();
    throw failure;
  }
}

interface DataRow {
  readonly question: string;
  /** The whole handler, and the answer alone. */
  readonly ours: { readonly p50: number; readonly p99: number };
  readonly alone: { readonly p50: number; readonly p99: number };
  readonly postgres: { readonly p50: number; readonly p99: number };
}

/** PostgreSQL runs on core 0, this process on core 1. */
function measureData(program: string, runtime: string, catalogue: string, host: string, times: number): DataRow[] {
  const words = ['--catalogue', catalogue, '--host', host, '--rounds', String(times)];
  const text = textOf('taskset', ['-c', '1', program, join(HERE, 'data.ts'), ...words]);
  const { rows } = JSON.parse(text.split('\n').at(-1) ?? '') as { rows: DataRow[] };
  console.log(
    `${runtime}: ms a call at p50 and p99: the answer alone, the whole handler, PostgreSQL; PostgreSQL's p50 in both`,
  );
  for (const { alone, ours, postgres: theirs, question } of rows) {
    const shown = [alone, ours, theirs]
      .map(({ p50, p99 }) => `${p50.toFixed(3)} ${p99.toFixed(3)}`.padStart(16))
      .join('');
    const times = [alone, ours].map(({ p50 }) => `x ${(theirs.p50 / p50).toFixed(1)}`.padStart(10)).join('');
    console.log(`  ${question.padEnd(36)} ${shown} ${times}`);
  }
  return rows;
}

const directory = mkdtempSync(join(tmpdir(), 'paygrade-peers-'));
let postgres: Postgres | undefined;
process.env.PATH = `${join(HERE, '../../node_modules/.bin')}${delimiter}${process.env.PATH}`;
try {
  const catalogue = values.catalogue ?? join(directory, 'catalogue.snapshot');
  if (values.catalogue === undefined && parts.some((part) => part !== 'data')) {
    console.error('making a catalogue (--catalogue FILE takes one that is there)');
    await writeSyntheticCatalogue(catalogue, values.size === 'small' ? SMALL_JOB_COUNT : FULL_JOB_COUNT);
  }
  const lines = join(directory, 'catalogue.jsonl');
  if (parts.includes('queries') || parts.includes('load')) {
    const main = join(HERE, '../../src/main.ts');
    textOf('sh', ['-c', `"${programOf('node')}" "${main}" snapshot export "${catalogue}" > "${lines}"`]);
  }
  const dataCatalogue = values['data-catalogue'] ?? join(directory, 'data.snapshot');
  if (parts.includes('data')) postgres = await dataDatabase(dataCatalogue);
  const results: Record<string, unknown> = {
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, load: loadavg()[0] },
    commit: spawnSync('git', ['-C', HERE, 'rev-parse', '--short=9', 'HEAD'], { encoding: 'utf8' }).stdout.trim(),
    startedAt: new Date().toISOString(),
  };
  for (const name of runtimes) {
    const program = programOf(name);
    const runtime = `${name === 'node' ? 'Node' : 'Bun'} ${textOf(program, ['--version']).replace('v', '')}`;
    const own: Record<string, unknown> = {};
    results[runtime] = own;
    if (parts.includes('http')) {
      console.log(`${runtime}: processor time a request; how many times ours the other's is`);
      // About as many as the faster side answers in that time: with fewer, a server would idle for the rest of the round.
      const paid = [seconds * 8_000, seconds * 2_000] as const;
      own.http = await measureHttp({ program, runtime, catalogue, seconds, rounds, paid, only: values.pair });
    }
    if (parts.includes('queries')) {
      console.log(`${runtime}: processor time a question; how many times ours the others' is`);
      const words = [join(HERE, 'queries.ts'), '--catalogue', catalogue, '--jsonl', lines, '--rounds', String(rounds)];
      const { rows } = JSON.parse(textOf(program, words).split('\n').at(-1) ?? '') as QueryResults;
      own.queries = rows;
      for (const { question, micros, ratios } of rows) {
        const others = Object.entries(ratios).filter(([contender]) => contender !== 'engine');
        const shown = others.map(([contender, ratio]) => `${contender} x ${ratio.toFixed(0)}`).join(', ');
        console.log(`  ${question.padEnd(34)} ${micros.engine!.toFixed(1).padStart(8)} µs   ${shown}`);
      }
    }
    if (parts.includes('load')) own.load = measureLoad({ program, runtime, catalogue, lines, rounds });
    if (postgres !== undefined) own.data = measureData(program, runtime, dataCatalogue, postgres.host, rounds);
    if (parts.includes('waits')) own.waits = await measureWaits({ program, runtime, rounds });
  }
  const out = values.out ?? join(HERE, '../results', `peers-${values.size}.local.json`);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(`${out}.tmp`, `${JSON.stringify(results, null, 2)}\n`);
  renameSync(`${out}.tmp`, out);
  console.error(`written to ${out}`);
} finally {
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
}
