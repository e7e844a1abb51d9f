/**
 * Starts of the built package: from the spawn of `dist/main.js serve` to its line `listening on`, in fresh processes in turn
 * with a bare server of the same runtime. With `--catalogue FILE` also to the first answer about that catalogue.
 *
 *   npm run -s build && node bench/start.ts [--rounds 9] [--catalogue FILE] [--dist DIR]...
 *
 *   node bench/start.ts --guard            exit code 1 if a start, relative to the bare server, twice takes more than 1.35
 *                                          times its usual processor time; --regress 1.5: the measured start counts 1.5 times
 *
 * Each `--dist` is one candidate (default: `dist`). Times are of the wall clock and of the processor, all threads, read from
 * /proc when the server has answered, so the bench needs Linux.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './harness.ts';
import { cpuMsOf, listening, PROJECT, RUNTIMES, type Runtime } from './server-process.ts';

/** Processor time of a start without catalogue, as a multiple of the bare server's. */
const USUAL = { node: 1.65, bun: 3.5 } as const;
/**
 * Closer to 1.5 than to 1, because on a machine that had just been busy the unchanged start took up to 1.25 times the usual.
 */
const CEILING = 1.35;
/** A module that runs before the server and takes processor time. */
const SPIN = `import { isMainThread } from 'node:worker_threads';
const used = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const until = used() + (isMainThread ? Number(process.env.SPIN_MS) * 1000 : 0);
while (used() < until);
`;

/** A server that only says that it listens, with the modules that every server needs. */
const BARE = `import { createServer } from 'node:http';
const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1', () =>
  console.log('listening on http://127.0.0.1:' + server.address().port));
`;

interface Started {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * @param question path to ask for before the clock stops
 * @param end runtimes store compiled code only when a process ends by itself, as the first start must
 */
async function start(
  program: string,
  words: readonly string[],
  question?: string,
  spinMs = 0,
  end: 'SIGKILL' | 'SIGTERM' = 'SIGKILL',
): Promise<Started> {
  const startMs = performance.now();
  const env = { ...process.env, SPIN_MS: String(spinMs) };
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const url = await listening(child);
    if (question !== undefined) {
      const response = await fetch(url + question);
      await response.text();
      if (response.status !== 402) throw new Error(`${question} is ${response.status}`);
    }
    return { wallMs: performance.now() - startMs, cpuMs: cpuMsOf(child.pid ?? 0) };
  } finally {
    child.removeAllListeners('exit');
    child.kill(end);
    await new Promise((resolve) => child.once('close', resolve));
  }
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    catalogue: { type: 'string' },
    dist: { type: 'string', multiple: true, default: [join(PROJECT, 'dist')] },
    runtime: { type: 'string', multiple: true, default: Object.keys(RUNTIMES) },
    guard: { type: 'boolean', default: false },
    regress: { type: 'string', default: '1' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'paygrade-start-'));
const bare = join(folder, 'bare.mjs');
const spin = join(folder, 'spin.mjs');
writeFileSync(bare, BARE);
writeFileSync(spin, SPIN);

type Candidate = readonly [name: string, words: readonly string[], question?: string];

function candidatesOf(dists: readonly string[], catalogue: string | undefined): Candidate[] {
  const candidates: Candidate[] = [['a bare server', [bare]]];
  for (const dist of dists) {
    const state = join(folder, `state${candidates.length}`);
    const words = [resolve(dist, 'main.js'), 'serve', '--port', '0', '--state-dir', state, '--snapshot'];
    candidates.push([`${dist}: no catalogue`, [...words, 'none']]);
    if (catalogue === undefined) continue;
    candidates.push([`${dist}: catalogue, first offer`, [...words, catalogue], '/v1/jobs/signals?role=engineer']);
  }
  return candidates;
}

/** How the starts of a round end. Those of the first round fill the compile caches and do not count. */
const endOf = (round: number): 'SIGKILL' | 'SIGTERM' => (round === 0 ? 'SIGTERM' : 'SIGKILL');

/** The starts of each candidate, in turn. */
async function startsOf(runtime: Runtime, candidates: readonly Candidate[], rounds: number): Promise<Started[][]> {
  const starts = candidates.map((): Started[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, [, words, question]] of candidates.entries()) {
      const started = await start(RUNTIMES[runtime], words, question, 0, endOf(round));
      if (round > 0) starts[index]?.push(started);
    }
  }
  return starts;
}

async function show(runtime: Runtime, candidates: readonly Candidate[], rounds: number): Promise<void> {
  const starts = await startsOf(runtime, candidates, rounds);
  console.log(`${runtime}: medians of ${rounds} starts in turn, ms`);
  for (const [index, [name]] of candidates.entries()) {
    const each = starts[index] ?? [];
    const shown = (['wallMs', 'cpuMs'] as const).map((part) => median(each.map((one) => one[part])).toFixed(0));
    console.log(`  ${name.padEnd(46)} ${shown[0]?.padStart(6)} by the clock ${shown[1]?.padStart(6)} of processor`);
  }
}

/**
 * The fastest start relative to the fastest of as many bare starts, one right before each: neighbours only add time.
 */
async function ratioOf(runtime: Runtime, [bareServer, served]: readonly Candidate[], rounds: number): Promise<number> {
  const preload = runtime === 'node' ? '--import' : '--preload';
  let [bareMs, servedMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round <= rounds; round++) {
    const base = (await start(RUNTIMES[runtime], bareServer?.[1] ?? [])).cpuMs;
    const spinMs = (Number(values.regress) - 1) * USUAL[runtime] * base;
    const words = [preload, spin, ...(served?.[1] ?? [])];
    const ours = await start(RUNTIMES[runtime], words, undefined, spinMs, endOf(round));
    if (round === 0) continue;
    bareMs = Math.min(bareMs, base);
    servedMs = Math.min(servedMs, ours.cpuMs);
  }
  return servedMs / bareMs;
}

/** A result above the ceiling is measured once more: a regression shows up again, a neighbour does not. */
async function guard(runtime: Runtime, candidates: readonly Candidate[], rounds: number): Promise<void> {
  let ratio = await ratioOf(runtime, candidates, rounds);
  const ceiling = USUAL[runtime] * CEILING;
  if (ratio > ceiling) ratio = Math.min(ratio, await ratioOf(runtime, candidates, rounds));
  console.log(
    `${ratio > ceiling ? 'above' : 'ok   '} ${runtime}: a start takes ${ratio.toFixed(2)} times a bare one, ceiling ${ceiling.toFixed(2)}`,
  );
  if (ratio > ceiling) process.exitCode = 1;
}

try {
  const candidates = candidatesOf(values.dist, values.catalogue);
  for (const runtime of Object.keys(RUNTIMES) as Runtime[]) {
    if (!values.runtime.includes(runtime)) continue;
    if (values.guard) await guard(runtime, candidates, Number(values.rounds));
    else await show(runtime, candidates, Number(values.rounds));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
