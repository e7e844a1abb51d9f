/**
 * What additional threads gain, and whether threads or processes should share the work:
 *
 *   node bench/workers.ts [--seconds 2] [--rounds 5] [--json]        the same under bun
 *
 *   box        work of two concurrent busy loops over that of one: what the machine can give during this run
 *   threads    recoveries a second of two verification threads relative to one, through the real queue, by library
 *   server     paid requests a second of the whole server with WORKERS=2 over WORKERS=1 (noble, durable state on disk),
 *              64 under way; load and server share the machine
 *   processes  the alternative: the cost of a reservation when several processes share one SQLite file, against the one table
 *              in memory with a journal behind it; µs of wall time each, two writers at once
 *
 * Scaling can be judged only where `box` is near 2. All parts take turns round by round; figures are medians.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { openVerification } from '../src/adapters/verification/open-verification.ts';
import { CONFIGURATION } from '../src/app/configuration.ts';
import { systemClock } from '../src/base/clock.ts';
import { systemRandom } from '../src/base/random.ts';
import { parseOffer, Signer } from '../src/load/signing.ts';
import { digestOf, STRUCT_BYTES } from '../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../src/payment/signature/noble-recovery.ts';
import { MAIN, startServer } from '../test/support/server.ts';
import { median, RUNTIME } from './harness.ts';

type Part =
  | { readonly part: 'loop'; readonly ms: number }
  | { readonly part: 'sqlite'; readonly path: string; readonly ms: number };

/** Additions and multiplications without a dependency on memory. */
function busyLoop(ms: number): number {
  let rounds = 0;
  let x = 1;
  for (const endMs = performance.now() + ms; performance.now() < endMs; rounds++) {
    for (let i = 0; i < 10_000; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  }
  return x === 0 ? 0 : rounds;
}

/** Reservations as several processes would make them: one transaction each, so that the other process sees it. */
async function sqliteReservations(path: string, ms: number): Promise<number> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE IF NOT EXISTS used (key TEXT PRIMARY KEY)',
  );
  const insert = database.prepare('INSERT OR IGNORE INTO used (key) VALUES (?)');
  let count = 0;
  for (const endMs = performance.now() + ms; performance.now() < endMs; count++)
    insert.run(randomBytes(52).toString('hex'));
  database.close();
  return count;
}

async function runPart(part: Part): Promise<void> {
  const done = part.part === 'loop' ? busyLoop(part.ms) : await sqliteReservations(part.path, part.ms);
  parentPort?.postMessage(done);
}

/** Work done by `count` threads together in the same time. */
async function together(count: number, part: Part): Promise<number> {
  const results = Array.from(
    { length: count },
    () =>
      new Promise<number>((resolve, reject) => {
        const worker = new Worker(new URL(import.meta.url), { workerData: part });
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  return (await Promise.all(results)).reduce((all, one) => all + one, 0);
}

const SECRET = new Uint8Array(32).fill(11);

function signed(digest: Uint8Array): Uint8Array {
  const bytes = secp256k1.sign(digest, SECRET, { prehash: false, format: 'recovered' });
  return new Uint8Array([...bytes.subarray(1), 27 + bytes[0]!]);
}

interface Recoveries {
  readonly perSecond: number;
  /**
   * Processor time of one, all threads together: if it is equal for one and two threads, the work scales with the cores.
   */
  readonly cpuMicros: number;
}

/** Recoveries a second through the queue: real signatures over fresh digests, as many waiting as a busy server has. */
async function recoveriesPerSecond(WORKERS: string, SIGNATURES: string, seconds: number): Promise<Recoveries> {
  const verification = openVerification(CONFIGURATION.read({ WORKERS, SIGNATURES }), {
    clock: systemClock,
    timers: systemTimers,
    onVerificationFault: (fault) => {
      throw new Error(fault);
    },
  });
  await verification.start(true);
  const signatures = Array.from({ length: 8 }, () => signed(randomBytes(32)));
  const struct = randomBytes(STRUCT_BYTES);
  const first = signatures[0] as Uint8Array;
  deepStrictEqual(
    await verification.queue.recover({ struct, signature: first, network: '', isDisconnected: () => false }),
    recoverWithNoble(digestOf(struct), first),
  );
  let count = 0;
  const endMs = performance.now() + seconds * 1000;
  const one = async (i: number): Promise<void> => {
    while (performance.now() < endMs) {
      const signature = signatures[i % signatures.length] as Uint8Array;
      const recovery = await verification.queue.recover({
        struct: randomBytes(STRUCT_BYTES),
        signature,
        network: '',
        isDisconnected: () => false,
      });
      if (recovery.ok === 'rejected') throw new Error(recovery.reason);
      count++;
    }
  };
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  await Promise.all(Array.from({ length: 64 }, (_, i) => one(i)));
  const perSecond = (count * 1000) / (performance.now() - startMs);
  const { user, system } = process.cpuUsage(startCpu);
  await verification.close();
  return { perSecond, cpuMicros: (user + system) / count };
}

const JOB = '/v1/jobs/search?keyword=engineer&limit=1';

/** Paid requests a second of a real server, 64 under way, payments signed ahead. */
async function paidPerSecond(WORKERS: string, seconds: number): Promise<number> {
  const server = await startServer(
    { binary: process.execPath, entry: MAIN },
    {
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      LOCAL_BALANCE: '1000000000000',
      LOG_LEVEL: 'error',
      SIGNATURES: 'noble',
      WORKERS,
    },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const ask = (payment?: string): Promise<{ status: number; offer: string }> =>
    new Promise((resolve, reject) => {
      const headers = payment === undefined ? {} : { 'payment-signature': payment };
      request({ port: server.port, host: '127.0.0.1', path: JOB, agent, headers }, (response) => {
        const offer = String(response.headers['payment-required'] ?? '');
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, offer }));
      })
        .on('error', reject)
        .end();
    });
  const offer = parseOffer((await ask()).offer);
  ok(offer !== undefined, 'the server makes no offer');
  const signer = new Signer(systemRandom);
  const payments = Array.from({ length: Math.ceil(seconds * 1500) }, () => signer.sign(offer, Date.now()).header);
  let count = 0;
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const one = async (): Promise<void> => {
    for (let payment = payments.pop(); payment !== undefined && performance.now() < endMs; payment = payments.pop()) {
      const { status } = await ask(payment);
      if (status !== 200) throw new Error(`a paid request was ${status}`);
      count++;
    }
  };
  await Promise.all(Array.from({ length: 64 }, one));
  const perSecond = (count * 1000) / (performance.now() - startMs);
  agent.destroy();
  await server.stop();
  return perSecond;
}

/** One table in memory: looked up and set, as a reservation is. */
function memoryReservations(ms: number): number {
  const used = new Map<string, true>();
  let count = 0;
  for (const endMs = performance.now() + ms; performance.now() < endMs; count++) {
    const key = `0x${count.toString(16).padStart(103, '0')}`;
    if (!used.has(key)) used.set(key, true);
  }
  return count;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  const ms = seconds * 1000;
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-shape-'));
  const samples: Record<string, number[]> = {};
  const take = (name: string, value: number): number => {
    samples[name] ??= [];
    samples[name].push(value);
    return value;
  };
  for (let round = 0; round < Number(values.rounds); round++) {
    const one = await together(1, { part: 'loop', ms });
    take('box', (await together(2, { part: 'loop', ms })) / one);
    for (const library of ['auto', 'noble']) {
      const [single, double] = [
        await recoveriesPerSecond('1', library, seconds),
        await recoveriesPerSecond('2', library, seconds),
      ];
      take(`${library} 1`, single.perSecond);
      take(`${library} 2`, double.perSecond);
      take(`${library} ratio`, double.perSecond / single.perSecond);
      take(`${library} cpu`, double.cpuMicros / single.cpuMicros);
    }
    const server = take('server 1', await paidPerSecond('1', seconds));
    take('server ratio', take('server 2', await paidPerSecond('2', seconds)) / server);
    const path = join(folder, `shared-${round}.db`);
    take('processes', (2 * ms * 1000) / (await together(2, { part: 'sqlite', path, ms: ms / 4 })) / 4);
    take('memory', (ms * 250) / memoryReservations(ms / 4));
  }
  rmSync(folder, { recursive: true, force: true });
  const of = (name: string): number => median(samples[name] ?? []);
  const result = {
    runtime: RUNTIME,
    boxRatio: of('box'),
    threads: Object.fromEntries(
      ['auto', 'noble'].map((name) => [
        name,
        { one: of(`${name} 1`), two: of(`${name} 2`), ratio: of(`${name} ratio`), cpuRatio: of(`${name} cpu`) },
      ]),
    ),
    server: { one: of('server 1'), two: of('server 2'), ratio: of('server ratio') },
    reservationMicros: { sharedFile: of('processes'), oneTable: of('memory') },
  };
  if (values.json) {
    console.log(JSON.stringify(result));
    return;
  }
  console.log(`${result.runtime}, ${values.rounds} rounds of ${seconds} s`);
  console.log(`box: two busy loops do ${result.boxRatio.toFixed(2)} of what one does`);
  for (const [name, { one, two, ratio, cpuRatio }] of Object.entries(result.threads)) {
    console.log(`threads, ${name}: ${one.toFixed(0)}/s with one, ${two.toFixed(0)}/s with two: ${ratio.toFixed(2)}`);
    console.log(`  processor time of one: ${cpuRatio.toFixed(2)} of what it is with one thread`);
  }
  const { one, two, ratio } = result.server;
  console.log(`server, noble: ${one.toFixed(0)} paid/s with one, ${two.toFixed(0)}/s with two: ${ratio.toFixed(2)}`);
  const { sharedFile, oneTable } = result.reservationMicros;
  console.log(
    `a reservation: ${sharedFile.toFixed(1)} µs in a file that two share, ${oneTable.toFixed(1)} µs in one table`,
  );
}

if (isMainThread) await main();
else await runPart(workerData as Part);
