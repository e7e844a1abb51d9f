/**
 * Starts of the built package: from the spawn of `dist/main.js serve` to its line `listening on`, in fresh processes in turn
 * with a bare server of the same runtime. With `--catalogue FILE` also to the first answer about that catalogue.
 *
 *   npm run -s build && node bench/start.ts [--rounds 9] [--catalogue FILE] [--dist DIR]...
 *
 * Each `--dist` is one candidate (default: `dist`). Times are of the wall clock and of the processor, all threads, read from
 * /proc when the server has answered, so the bench needs Linux.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { quantile } from './harness.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const RUNTIMES = {
  node: join(PROJECT, 'node_modules/.bin/node'),
  bun: join(PROJECT, 'node_modules/.bin/bun'),
} as const;
const READY = /listening on (http:\S+)/;
/** A server that only says that it listens, with the modules that every server needs. */
const BARE = `import { createServer } from 'node:http';
const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1', () =>
  console.log('listening on http://127.0.0.1:' + server.address().port));
`;

interface Started {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Processor time of all threads that the process has now, ms. */
function cpuMsOf(processId: number): number {
  const tasks = `/proc/${processId}/task`;
  const times = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** Resolves with the address that the server names. @throws Error when it ends first */
function listening(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      printed += bytes;
      const url = READY.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    child.once('error', reject);
  });
}

/** @param question path to ask for before the clock stops */
async function start(program: string, words: readonly string[], question?: string): Promise<Started> {
  const startMs = performance.now();
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
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
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
  }
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    catalogue: { type: 'string' },
    dist: { type: 'string', multiple: true, default: [join(PROJECT, 'dist')] },
    runtime: { type: 'string', multiple: true, default: Object.keys(RUNTIMES) },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'paygrade-start-'));
const bare = join(folder, 'bare.mjs');
writeFileSync(bare, BARE);

type Candidate = readonly [name: string, words: readonly string[], question?: string];
const candidates: Candidate[] = [['a bare server', [bare]]];
for (const dist of values.dist) {
  const words = [resolve(dist, 'main.js'), 'serve', '--port', '0', '--state-dir', ':memory:', '--snapshot'];
  const durable = words.with(5, join(folder, `state${candidates.length}`));
  candidates.push([`${dist}: no catalogue`, [...durable, 'none']]);
  if (values.catalogue === undefined) continue;
  candidates.push([
    `${dist}: catalogue, first offer`,
    [...durable, values.catalogue],
    '/v1/jobs/signals?role=engineer',
  ]);
}
try {
  for (const [runtime, program] of Object.entries(RUNTIMES)) {
    if (!values.runtime.includes(runtime)) continue;
    const rounds = candidates.map((): Started[] => []);
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const [index, [, words, question]] of candidates.entries()) {
        const started = await start(program, words, question);
        if (round > 0) rounds[index]?.push(started); // the first fills caches
      }
    }
    const median = (each: readonly Started[], name: keyof Started): number =>
      quantile(Float64Array.from(each, (started) => started[name]).sort(), 0.5);
    console.log(`${runtime}: medians of ${values.rounds} starts in turn, ms`);
    for (const [index, [name]] of candidates.entries()) {
      const each = rounds[index] ?? [];
      const shown = (['wallMs', 'cpuMs'] as const).map((part) => median(each, part).toFixed(0).padStart(6));
      console.log(`  ${name.padEnd(46)} ${shown[0]} by the clock ${shown[1]} of processor`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
