/**
 * Servers under the same load in turn: the cost of a request to each process, in processor time (user and system, from
 * /proc/PID/stat, over the requests that wrk counted) and, if `perf` is available, in instructions, which other work on
 * the machine hardly changes. The server alone on core 0, wrk alone on core 1.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, quantile } from '../harness.ts';
import { cpuMicrosOf } from '../server-process.ts';

const CONNECTIONS = 64;
/** Length of the warm-up, in rounds: compilers need tens of thousands of requests. */
const WARM_UP_ROUNDS = 5;

export interface PairOptions {
  readonly program: string;
  readonly runtime: string;
  readonly seconds: number;
  readonly rounds: number;
}

/** The median of several rounds, and an interval that contains the true median with a probability of at least 95 %. */
export interface Ratio {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export interface PairResult {
  readonly pair: string;
  readonly runtime: string;
  /** Median processor time a request, µs, by server. */
  readonly micros: Record<string, number>;
  readonly requestsASecond: Record<string, number>;
  /** For each other server, the ratio of its processor time to the first's. */
  readonly ratios: Record<string, Ratio>;
  /** The same for instructions; absent without `perf`. */
  readonly instructions?: Record<string, Ratio>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

/** One of the servers that are compared. */
export interface Contender {
  readonly name: string;
  readonly running: Running;
  /**
   * Prepares a round that may send `factor` times as much as a normal one. @returns arguments of wrk.lua besides the path
   */
  prepare(factor: number): Promise<readonly string[]>;
}

interface WrkResult {
  readonly requests: number;
  readonly durationMicros: number;
  readonly socketErrors: number;
  readonly statuses: Record<string, number>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts a server of this folder and waits for its port. */
export async function start(program: string, file: string, words: readonly string[]): Promise<Running> {
  const child = spawn('taskset', ['-c', '0', program, here(file), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${words.join(' ')} ended with ${code}`)));
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const found = /listening on (\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  return { child, port };
}

/** `perf` also starts on a machine that cannot count, and prints a text instead of the number. */
const hasPerf = /^\d+,/m.test(
  spawnSync('perf', ['stat', '-x,', '-e', 'instructions', 'true'], { encoding: 'utf8' }).stderr ?? '',
);
const PERF_FILE = join(tmpdir(), `paygrade-perf-${process.pid}`);

/** Words that count the instructions of a process while the rest of the command runs. */
const counting = (pid: number): readonly string[] =>
  hasPerf ? ['perf', 'stat', '-x,', '-e', 'instructions', '-p', String(pid), '-o', PERF_FILE] : [];

function instructionsCounted(): number {
  if (!hasPerf) return Number.NaN;
  const count = Number(/^(\d+),.*instructions/m.exec(readFileSync(PERF_FILE, 'utf8'))?.[1]);
  rmSync(PERF_FILE);
  return count;
}

function wrk({ child: { pid }, port }: Running, path: string, what: readonly string[], seconds: number) {
  const load = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', here('wrk.lua'), `http://127.0.0.1:${port}`];
  const words = ['-c', '1', ...counting(pid!), ...load, '--', path, ...what];
  const child = spawn('taskset', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return new Promise<WrkResult>((resolve, reject) => {
    child.once('error', () => reject(new Error('taskset and wrk are needed (Debian: apt-get install wrk)')));
    child.once('close', () => {
      const line = /^RESULT (.*)$/m.exec(text);
      if (line === null) reject(new Error(`wrk said nothing: ${text}`));
      else resolve(JSON.parse(line[1]!) as WrkResult);
    });
  });
}

/**
 * An interval for any distribution: from the k-th smallest to the k-th largest value, with k such that fewer than k
 * rounds lie on one side of the true median at most 2.5 times in a hundred. With fewer than six rounds, all values.
 */
function ratioOf(rounds: readonly number[]): Ratio {
  const sorted = Float64Array.from(rounds).sort();
  const count = sorted.length;
  let rank = 0;
  let chance = 0.5 ** count;
  for (let below = chance; below <= 0.025 && rank < count / 2 - 1; below += chance) {
    rank++;
    chance *= (count - rank + 1) / rank;
  }
  const at = Math.max(0, rank - 1);
  return { median: quantile(sorted, 0.5), low: sorted[at]!, high: sorted[count - 1 - at]! };
}

/** What each round measured, by server. */
class Rounds {
  readonly micros: Record<string, number[]> = {};
  readonly instructions: Record<string, number[]> = {};
  readonly rates: Record<string, number[]> = {};

  add(name: string, cpuMicros: number, instructions: number, { requests, durationMicros }: WrkResult): void {
    const push = (into: Record<string, number[]>, value: number): void => {
      into[name] = [...(into[name] ?? []), value];
    };
    push(this.micros, cpuMicros / requests);
    push(this.instructions, instructions / requests);
    push(this.rates, (requests * 1e6) / durationMicros);
  }
}

const mediansOf = (all: Record<string, number[]>): Record<string, number> =>
  Object.fromEntries(Object.entries(all).map(([name, each]) => [name, median(each)]));

/** Ratios of the other servers to the first. */
function ratiosOf(all: Record<string, number[]>): Record<string, Ratio> {
  const [[, ours], ...others] = Object.entries(all) as [[string, number[]], ...[string, number[]][]];
  return Object.fromEntries(others.map(([name, each]) => [name, ratioOf(each.map((one, i) => one / ours[i]!))]));
}

/** Measures servers in turn. @param status that every answer must have @throws Error for another one */
export async function inTurn(
  pair: string,
  path: string,
  status: number,
  contenders: readonly Contender[],
  { runtime, seconds, rounds: roundCount }: PairOptions,
): Promise<PairResult> {
  const rounds = new Rounds();
  for (let round = 0; round <= roundCount; round++) {
    const factor = round === 0 ? WARM_UP_ROUNDS : 1;
    for (const { name, running, prepare } of contenders) {
      const what = await prepare(factor);
      const pid = running.child.pid!;
      const before = cpuMicrosOf(pid);
      const result = await wrk(running, path, what, seconds * factor);
      const spent = cpuMicrosOf(pid) - before;
      const good = result.statuses[String(status)] ?? 0;
      // The last few requests of a round that has used up its payments ask for /health, while wrk is ending.
      const odd = Object.entries(result.statuses).filter(([code]) => code !== String(status) && code !== '404');
      if (good === 0 || odd.length > 0) throw new Error(`${pair}, ${name}: ${JSON.stringify(result)}`);
      const instructions = instructionsCounted();
      if (round > 0) rounds.add(name, spent, instructions, result);
    }
  }
  return {
    pair,
    runtime,
    micros: mediansOf(rounds.micros),
    requestsASecond: mediansOf(rounds.rates),
    ratios: ratiosOf(rounds.micros),
    ...(hasPerf ? { instructions: ratiosOf(rounds.instructions) } : {}),
  };
}
