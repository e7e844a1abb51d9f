/**
 * A long run of sales at a fixed rate, against a server from `dist` with durable state (`full`) on disk: whether memory
 * stays flat, how much the state's files grow with each sale, and how long an answer takes meanwhile.
 *
 *   npm run -s build && node bench/soak.ts [--minutes 20] [--rate 1000] [--runtime node]... [--folder DIR]
 *
 * `paygrade load --scenario paid` sends, on the same machine. The server is looked at from outside, through /proc:
 * Linux. Growth a minute is the least-squares slope over the last quarter of the run: an authorization is stored until
 * ten minutes after it expires, so their number grows for the first twelve or thirteen minutes.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LoadResult } from '../src/load/result.ts';
import { cpuMsOf, listening, PROJECT, RUNTIMES, type Runtime } from './server-process.ts';

const MAIN = join(PROJECT, 'dist/main.js');
const LOOK_EVERY_MS = 30_000;
const MIB = 2 ** 20;

interface Look {
  readonly minutes: number;
  readonly residentMib: number;
  readonly stateMib: number;
  readonly sales: number;
  readonly cpuMs: number;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    rate: { type: 'string', default: '1000' },
    runtime: { type: 'string', multiple: true, default: Object.keys(RUNTIMES) },
    /** Where the state is; a disk, not memory. */
    folder: { type: 'string', default: tmpdir() },
  },
});
const seconds = Number(values.minutes) * 60;

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

function residentMibOf(processId: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

async function salesOf(url: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return [...page.matchAll(/^paygrade_sales_total(?:\{.*\})? (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

/** Slope of the least squares. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x0, y0] = [mean(0), mean(1)];
  const [xy, xx] = points.reduce(([a, b], [x, y]) => [a + (x - x0) * (y - y0), b + (x - x0) ** 2], [0, 0]);
  return xy / xx;
}

async function soak(runtime: Runtime): Promise<void> {
  const stateDir = mkdtempSync(join(values.folder, 'paygrade-soak-'));
  const env = {
    ...process.env,
    STATE_DIR: stateDir,
    LOCAL_BALANCE: '1000000000000',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    PORT: '0',
  };
  const server = spawn(RUNTIMES[runtime], [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await listening(server);
    const words = ['load', url, '--scenario', 'paid', '--rate', values.rate, '--duration', String(seconds), '--json'];
    const load = spawn(RUNTIMES.node, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    load.stdout.on('data', (bytes: Buffer) => {
      text += bytes;
    });
    const startMs = performance.now();
    const looks: Look[] = [];
    const look = async (): Promise<void> => {
      const processId = server.pid ?? 0;
      looks.push({
        minutes: (performance.now() - startMs) / 60_000,
        residentMib: residentMibOf(processId),
        stateMib: bytesIn(stateDir) / MIB,
        sales: await salesOf(url),
        cpuMs: cpuMsOf(processId),
      });
      const last = looks.at(-1)!;
      console.log(
        `  ${last.minutes.toFixed(1).padStart(5)} min ${last.residentMib.toFixed(0).padStart(6)} MiB resident ` +
          `${last.stateMib.toFixed(0).padStart(6)} MiB of state ${String(last.sales).padStart(8)} sales`,
      );
    };
    const looking = setInterval(() => void look(), LOOK_EVERY_MS);
    await new Promise((resolve) => load.once('close', resolve));
    clearInterval(looking);
    await look();
    show(looks, JSON.parse(text) as LoadResult);
  } finally {
    server.removeAllListeners('exit');
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('close', resolve));
    rmSync(stateDir, { recursive: true, force: true });
  }
}

function show(looks: readonly Look[], { requests, latency_us: latency, generator, ended }: LoadResult): void {
  const [first, last] = [looks[0]!, looks.at(-1)!];
  const later = looks.slice(Math.floor(looks.length * 0.75), -1);
  const residentSlope = slope(later.map(({ minutes, residentMib }) => [minutes, residentMib]));
  const bytesASale = slope(later.map(({ sales, stateMib }) => [sales, stateMib * MIB]));
  const ms = (us: number | undefined): string => ((us ?? Number.NaN) / 1000).toFixed(1);
  console.log(
    `  ended ${ended}: ${requests.expected} expected, ${requests.unexpected} unexpected, ${requests.unsent} unsent, ` +
      `${requests.per_second.toFixed(0)}/s; p50 ${ms(latency?.p50)}, p99 ${ms(latency?.p99)}, most ${ms(latency?.max)} ms`,
  );
  console.log(
    `  memory ${residentSlope.toFixed(2)} MiB a minute, state ${bytesASale.toFixed(0)} bytes a sale, ` +
      `${(((last.cpuMs - first.cpuMs) * 1000) / (last.sales - first.sales)).toFixed(0)} µs of processor a sale` +
      (generator.was_the_limit ? `; the generator was the limit: ${generator.reason}` : ''),
  );
}

for (const runtime of Object.keys(RUNTIMES) as Runtime[]) {
  if (!values.runtime.includes(runtime)) continue;
  console.log(`${runtime}: ${values.rate} sales a second for ${values.minutes} minutes`);
  await soak(runtime);
}
