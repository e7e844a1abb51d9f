/**
 * What a round of `watch` costs: a catalogue of BOARDS boards with JOBS jobs each, then a round in which one board in ten changed a tenth of
 * its jobs (1 % of all) and the others answer 304, beside a build of the same catalogue from nothing. The boards stand behind a
 * real server on this machine; the watch is a process of its own, whose CPU time and peak memory the system counts. At the end the
 * snapshot is compared byte by byte with the one from nothing.
 *
 *     node bench/watch.ts [--boards 1000] [--jobs 200]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { synthRecords } from '../src/ingest/synth/synth.ts';
import { BoardTables } from '../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../src/storage/history/database.ts';

const { values } = parseArgs({ options: { boards: { type: 'string' }, jobs: { type: 'string' } } });
const BOARDS = Number(values.boards ?? 1000);
const JOBS = Number(values.jobs ?? 200);
const CHANGED_BOARDS = Math.max(1, Math.round(BOARDS / 10));
const CHANGED_JOBS = Math.max(1, Math.round(JOBS / 10));
/** Synthetic descriptions that together are about as long as a real one, 4 KB. */
const TEXTS = 5;
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'paygrade-bench-watch-'));
const texts = [...synthRecords({ jobs: 4000, seed: 11, asOfMs: Date.UTC(2026, 6, 15), descriptions: true })];

/** The list of a board; with `isChanged` a tenth of its jobs have another description. */
function documentOf(board: number, isChanged: boolean): string {
  const random = new SeededRandom(board, 1);
  const jobs = Array.from({ length: JOBS }, (_, id) => {
    const { title, location } = texts[random.below(texts.length)]!;
    const content = Array.from({ length: TEXTS }, () => texts[random.below(texts.length)]!.description).join('\n');
    return {
      id: board * 100_000 + id,
      title,
      absolute_url: `https://boards.greenhouse.io/board${board}/jobs/${id}`,
      location: { name: location },
      first_published: '2026-06-01T00:00:00Z',
      updated_at: '2026-06-01T00:00:00Z',
      company_name: `Company ${board}`,
      content: isChanged && id < CHANGED_JOBS ? `${content} Posting ${id} was written again.` : content,
    };
  });
  return JSON.stringify({ jobs, meta: { total: JOBS } });
}

let version = 0;
const isChanged = (board: number): boolean => version > 0 && board < CHANGED_BOARDS;
const server = createServer((request, response) => {
  const board = Number(/board(\d+)/.exec(request.url!)![1]);
  const etag = `"${board}-${isChanged(board) ? version : 0}"`;
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
  response.writeHead(200, { etag }).end(documentOf(board, isChanged(board)));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  readonly stderr: string;
}

const TICKS = 100;

/** Runs a command; CPU time and peak memory as the system counts them, read until it ends. */
function cost(words: readonly string[]): Promise<Cost> {
  const startMs = performance.now();
  const profile =
    process.env.BENCH_PROFILE === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE];
  const child = spawn(process.execPath, [...profile, MAIN, ...words], {
    stdio: ['ignore', process.env.BENCH_SHOW ? 'inherit' : 'ignore', 'pipe'],
    env: { ...process.env, BOARD_ENDPOINTS: `greenhouse=http://${host}`, TARGET_ALLOW: host, CONTACT: 'bench' },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let cpuSeconds = 0;
  let peakMiB = 0;
  const timer = setInterval(() => {
    try {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      cpuSeconds = (Number(stat[11]) + Number(stat[12])) / TICKS;
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakMiB = Math.max(peakMiB, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 20);
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => {
      clearInterval(timer);
      if (code !== 0) return reject(new Error(stderr));
      resolve({ seconds: (performance.now() - startMs) / 1000, cpuSeconds, peakMiB, stderr });
    });
  });
}

const show = (name: string, { seconds, cpuSeconds, peakMiB }: Cost): void =>
  console.log(
    `${name.padEnd(34)} ${seconds.toFixed(1).padStart(7)} s ${cpuSeconds.toFixed(1).padStart(7)} s CPU ${peakMiB.toFixed(0).padStart(6)} MiB`,
  );

const catalogue = join(folder, 'catalogue');
const history = HistoryDatabase.openForSettings(catalogue);
const tables = new BoardTables(history);
for (let board = 0; board < BOARDS; board++) {
  const token = `board${board}`;
  tables.put(
    { shape: 'greenhouse', token, company: null, domain: null, address: `https://boards.greenhouse.io/${token}` },
    0,
  );
}
history.database.exec('COMMIT');
history.close();

const round = [
  'watch',
  '--catalogue',
  catalogue,
  '--out',
  join(folder, 'jobs.snapshot'),
  '--once',
  '--all',
  '--host-pause-ms',
  '0',
];
try {
  console.log(`${BOARDS} boards, ${BOARDS * JOBS} jobs, ${process.version}`);
  show('first round, all new', await cost(round));
  show('round without a change', await cost(round));
  version = 1;
  const changed = await cost(round);
  show('round with 1 % changed', changed);
  console.log(changed.stderr.trim().replace(/^/gm, '    '));
  show(
    'build from nothing',
    await cost(['snapshot', 'build', '--catalogue', catalogue, '--out', join(folder, 'nothing.snapshot')]),
  );
} finally {
  server.close();
  if (process.env.BENCH_KEEP === undefined) rmSync(folder, { recursive: true });
}
