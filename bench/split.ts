/**
 * The cost of a catalogue in another process (siblings §8): the check of an answer by its closed schema, the two
 * clients that a gate can use, and a paid request through a gate and two jobs services compared with the same request
 * at a server with a catalogue. Both sides are asked in turn; processor time is that of the server processes.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import type { Connections } from '../src/adapters/engine/exchange.ts';
import { FetchConnections } from '../src/adapters/engine/fetch-connections.ts';
import { HttpConnections } from '../src/adapters/engine/http-connections.ts';
import { systemRandom } from '../src/base/random.ts';
import { parseOffer, Signer } from '../src/load/signing.ts';
import { answerReader } from '../src/modules/jobs/remote.ts';
import { searchJobs } from '../src/modules/jobs/search.ts';
import { findSignals } from '../src/modules/jobs/signals.ts';
import { type Context, type Figure, figureOf, isBun, median, type Size, sized, timed } from './harness.ts';
import { type Served, startMeasured } from './served.ts';
import { cpuMicrosOf } from './server-process.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const TOKEN = 'token-between-gates-and-services-0123456789';
const TARGET = '/v1/jobs/search?keyword=engineer';
const CONCURRENCY = 4;

async function answerOf({ port }: Served, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/internal${path}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  deepStrictEqual(response.status, 200);
  return response.text();
}

/** Payments signed beforehand, so that the customer's work is not timed. */
async function payments({ port }: Served, count: number): Promise<string[]> {
  const unpaid = await fetch(`http://127.0.0.1:${port}${TARGET}`);
  await unpaid.arrayBuffer();
  const offer = parseOffer(unpaid.headers.get('payment-required') ?? '');
  ok(offer !== undefined, `no offer: ${unpaid.status}`);
  const signer = new Signer(systemRandom);
  return Array.from({ length: count }, () => signer.sign(offer, Date.now()).header);
}

interface Round {
  readonly p50Micros: number;
  readonly cpuMicros: readonly number[];
}

/** Buys answers. Returns the time of one, and the processor time of each process for it. */
async function buyRound(seller: Served, processes: readonly Served[], count: number): Promise<Round> {
  const signed = await payments(seller, count);
  const before = processes.map(({ pid }) => cpuMicrosOf(pid));
  const micros: number[] = [];
  const customer = async (): Promise<void> => {
    for (let header = signed.pop(); header !== undefined; header = signed.pop()) {
      const startMs = performance.now();
      const response = await fetch(`http://127.0.0.1:${seller.port}${TARGET}`, {
        headers: { 'payment-signature': header },
      });
      await response.arrayBuffer();
      micros.push((performance.now() - startMs) * 1000);
      deepStrictEqual(response.status, 200);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, customer));
  return {
    p50Micros: median(micros),
    cpuMicros: processes.map((one, i) => (cpuMicrosOf(one.pid) - before[i]!) / count),
  };
}

async function paidFigures(size: Size, alone: Served, gate: Served, services: readonly Served[]): Promise<Figure[]> {
  const count = sized(size, 60, 1500);
  const rounds = sized(size, 2, 7);
  const ofAlone: Round[] = [];
  const ofSplit: Round[] = [];
  await buyRound(alone, [alone], count);
  await buyRound(gate, [gate], count);
  for (let round = 0; round < rounds; round++) {
    ofAlone.push(await buyRound(alone, [alone], count));
    ofSplit.push(await buyRound(gate, [gate, ...services], count));
  }
  const p50s = (all: readonly Round[]): number[] => all.map(({ p50Micros }) => p50Micros);
  const cpus = (all: readonly Round[], from: number, to: number): number[] =>
    all.map(({ cpuMicros }) => cpuMicros.slice(from, to).reduce((sum, one) => sum + one, 0));
  return [
    figureOf('paid search, one process: p50', 'µs', p50s(ofAlone), `${CONCURRENCY} at a time`),
    figureOf('paid search, gate and services: p50', 'µs', p50s(ofSplit), `${CONCURRENCY} at a time`),
    figureOf('paid search, one process: processor time', 'µs', cpus(ofAlone, 0, 1)),
    figureOf('paid search, the gate: processor time', 'µs', cpus(ofSplit, 0, 1)),
    figureOf('paid search, the services: processor time', 'µs', cpus(ofSplit, 1, 3)),
  ];
}

/** The time of one exchange of a body of this size, processor time of this process. */
async function exchangeFigure(name: string, connections: Connections, size: Size): Promise<Figure> {
  const count = sized(size, 200, 4000);
  const run = async (): Promise<number> => {
    const before = process.cpuUsage();
    let left = count;
    const asking = async (): Promise<void> => {
      while (left-- > 0) deepStrictEqual((await connections.get('/v1/jobs/search').done).kind, 'answer');
    };
    await Promise.all(Array.from({ length: 16 }, asking));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  };
  await run();
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) rounds.push(await run());
  connections.close();
  return figureOf(name, 'µs', rounds, 'the server is in the same process, for both alike');
}

async function clientFigures(body: string, size: Size): Promise<Figure[]> {
  const server = createServer((_, response) => void response.setHeader('content-type', 'application/json').end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const figures = [
    await exchangeFigure('an exchange by node:http', new HttpConnections(url, TOKEN), size),
    await exchangeFigure('an exchange by fetch', new FetchConnections(url, TOKEN), size),
  ];
  server.close();
  server.closeAllConnections();
  return figures;
}

async function checkFigures(service: Served, size: Size): Promise<{ figures: Figure[]; search: string }> {
  const search = await answerOf(service, TARGET);
  const signals = await answerOf(service, '/v1/jobs/signals?role=engineer');
  const read = { search: answerReader(searchJobs), signals: answerReader(findSignals) };
  deepStrictEqual(read.search(200, search), JSON.parse(search));
  deepStrictEqual(read.signals(200, signals), JSON.parse(signals));
  ok(!v.is(findSignals.answer, JSON.parse(search)));
  const note = `${search.length} bytes`;
  return {
    search,
    figures: [
      await timed('search: text to object', size, () => JSON.parse(search), note),
      await timed('search: the same, and the closed schema', size, () => read.search(200, search), note),
      await timed('search: object to text', size, () => JSON.stringify(JSON.parse(search)), 'parsed first'),
      await timed('signals: text to object, and the closed schema', size, () => read.signals(200, signals)),
    ],
  };
}

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-split-'));
  const started: Served[] = [];
  const start = async (env: Readonly<Record<string, string>>): Promise<Served> => {
    const common = { PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '0', SHEDDING: 'false' };
    const stateDir = join(folder, String(started.length));
    const served = await startMeasured(process.execPath, isBun, [MAIN, 'serve'], {
      ...common,
      STATE_DIR: stateDir,
      ...env,
    });
    started.push(served);
    return served;
  };
  try {
    const service = { SNAPSHOT: cataloguePath, ENGINE_TOKEN: TOKEN, SURFACES: 'none', STATE_DIR: ':memory:' };
    const services = [await start(service), await start(service)];
    const urls = services.map(({ port }) => `http://127.0.0.1:${port}`);
    const gate = await start({ ENGINE_URL: urls.join(), ENGINE_TOKEN: TOKEN });
    const alone = await start({ SNAPSHOT: cataloguePath });
    const { figures, search } = await checkFigures(services[0]!, size);
    return [...figures, ...(await clientFigures(search, size)), ...(await paidFigures(size, alone, gate, services))];
  } finally {
    for (const served of started) served.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
