/**
 * What a round of `watch` costs: a catalogue of boards with some jobs each, then a round in which one board in ten has
 * changed a tenth of its jobs (1 % of all) and the others answer 304, a round in which all answer with the same lists
 * again, like boards without validators, and a build of the same catalogue from nothing. A real server on this machine
 * serves the boards; the watch is a separate process, whose CPU time and peak memory Linux reports. Both snapshots must
 * have the same content. `WATCH_BOARD_JOBS=1000` makes it a million jobs, which takes half an hour.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { synthRecords } from '../src/ingest/synth/synth.ts';
import { BoardTables } from '../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../src/storage/history/database.ts';
import { type Context, type Figure, sized } from './harness.ts';
import { cpuMicrosOf } from './server-process.ts';

/** Synthetic descriptions that together are about as long as a real one, 4 KB. */
const TEXTS = 5;
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Boards {
  readonly count: number;
  /** Jobs of each. */
  readonly jobs: number;
}

/** All boards at one address. `version` rises with each change and is in the ETags of the changed boards. */
class BoardServer {
  version = 0;
  hasValidators = true;
  readonly #boards: Boards;
  readonly #texts = [...synthRecords({ jobs: 4000, seed: 11, asOfMs: Date.UTC(2026, 6, 15), descriptions: true })];
  readonly #server: Server;

  constructor(boards: Boards) {
    this.#boards = boards;
    this.#server = createServer((request, response) => {
      const board = Number(/board(\d+)/.exec(request.url!)![1]);
      const etag = `"${board}-${this.#isChanged(board) ? this.version : 0}"`;
      if (this.hasValidators && request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
      response.writeHead(200, this.hasValidators ? { etag } : {}).end(this.#documentOf(board));
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #isChanged(board: number): boolean {
    return this.version > 0 && board < Math.max(1, this.#boards.count / 10);
  }

  /** The list of a board; if it has changed, a tenth of the jobs have another description. */
  #documentOf(board: number): string {
    const random = new SeededRandom(board, 1);
    const one = () => this.#texts[random.below(this.#texts.length)]!;
    const jobs = Array.from({ length: this.#boards.jobs }, (_, id) => {
      const { title, location } = one();
      const content = Array.from({ length: TEXTS }, () => one().description).join('\n');
      const isWrittenAgain = this.#isChanged(board) && id < Math.max(1, this.#boards.jobs / 10);
      return {
        id: board * 100_000 + id,
        title,
        absolute_url: `https://boards.greenhouse.io/board${board}/jobs/${id}`,
        location: { name: location },
        first_published: '2026-06-01T00:00:00Z',
        updated_at: '2026-06-01T00:00:00Z',
        company_name: `Company ${board}`,
        content: isWrittenAgain ? `${content} Posting ${id} was written again.` : content,
      };
    });
    return JSON.stringify({ jobs, meta: { total: jobs.length } });
  }
}

interface Cost {
  readonly seconds: number;
  /** undefined if the system does not report it. */
  readonly cpuSeconds: number | undefined;
  readonly peakMiB: number | undefined;
  readonly stdout: string;
}

/** Runs a command; CPU time and peak memory as the system counts them, read until it ends. */
function costOf(words: readonly string[], host: string): Promise<Cost> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [MAIN, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BOARD_ENDPOINTS: `greenhouse=http://${host}`, TARGET_ALLOW: host, CONTACT: 'bench' },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let cpuSeconds: number | undefined;
  let peakMiB: number | undefined;
  const timer = setInterval(() => {
    try {
      cpuSeconds = cpuMicrosOf(child.pid!) / 1e6;
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakMiB = Math.max(peakMiB ?? 0, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended, or this is no Linux.
    }
  }, 20);
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      clearInterval(timer);
      if (code !== 0) return reject(new Error(`${words[0]} ended with ${code}: ${stderr}`));
      resolve({ seconds: (performance.now() - startMs) / 1000, cpuSeconds, peakMiB, stdout });
    });
  });
}

function figuresOf(name: string, { seconds, cpuSeconds, peakMiB }: Cost, note: string): Figure[] {
  return [
    { name, value: seconds, unit: 's', note },
    ...(cpuSeconds === undefined ? [] : [{ name: `${name}, CPU`, value: cpuSeconds, unit: 's' as const }]),
    ...(peakMiB === undefined ? [] : [{ name: `${name}, peak memory`, value: peakMiB, unit: 'MiB' as const }]),
  ];
}

function addBoards(catalogue: string, count: number): void {
  const history = HistoryDatabase.openForSettings(catalogue);
  const tables = new BoardTables(history);
  for (let board = 0; board < count; board++) {
    const token = `board${board}`;
    const address = `https://boards.greenhouse.io/${token}`;
    tables.put({ shape: 'greenhouse', token, company: null, domain: null, address }, 0);
  }
  history.commit();
  history.close();
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const jobs = Number(process.env.WATCH_BOARD_JOBS ?? sized(size, 20, 200));
  const boards: Boards = { count: sized(size, 20, 1000), jobs };
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-bench-watch-'));
  const server = new BoardServer(boards);
  try {
    const host = await server.open();
    const catalogue = join(folder, 'catalogue');
    const out = join(folder, 'jobs.snapshot');
    const nothing = join(folder, 'nothing.snapshot');
    addBoards(catalogue, boards.count);
    const round = (): Promise<Cost> =>
      costOf(
        ['watch', '--catalogue', catalogue, '--out', out, '--once', '--all', '--json', '--host-pause-ms', '0'],
        host,
      );
    const build = (): Promise<Cost> =>
      costOf(['snapshot', 'build', '--catalogue', catalogue, '--out', nothing, '--json'], host);
    const first = await round();
    const still = await round();
    server.version = 1;
    const changed = await round();
    server.hasValidators = false;
    const again = await round();
    const whole = await build();
    const inspected = await costOf(['snapshot', 'inspect', out, '--json'], host);
    const found = [whole, inspected].map(({ stdout }) => JSON.parse(stdout) as { content: string; rows: number });
    const isSame = found[0]!.content !== undefined && found[0]!.content === found[1]!.content;
    if (!isSame) throw new Error('the snapshots are not the same');
    if (found[0]!.rows !== boards.count * boards.jobs) throw new Error(`the snapshot has ${found[0]!.rows} jobs`);
    const all = `${boards.count} boards, ${boards.count * boards.jobs} jobs`;
    return [
      ...figuresOf('first round, all new', first, all),
      ...figuresOf('round without a change', still, all),
      ...figuresOf('round with 1 % changed', changed, all),
      ...figuresOf('round with the same lists once more', again, all),
      ...figuresOf('build from nothing', whole, all),
    ];
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}
