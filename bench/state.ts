/**
 * What durable state costs, through the whole handler with the network left out: the same requests to servers with
 * state in memory, on disk with either sync level, and on a disk that takes 10 ms longer for each commit; in turn, in
 * one process. Then what a million used authorizations take in memory, on disk and at the next start.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { type App, openApp } from '../src/app/app.ts';
import { CONFIGURATION } from '../src/app/configuration.ts';
import { systemClock } from '../src/base/clock.ts';
import { encodeHex } from '../src/base/codec.ts';
import { systemRandom } from '../src/base/random.ts';
import { startThread } from '../src/base/start-thread.ts';
import type { SignedBatch, SigningOrder } from '../src/load/signer.ts';
import { parseOffer } from '../src/load/signing.ts';
import { BASE } from '../src/payment/protocol/network.ts';
import { orderTextOf, reservationKeyOf } from '../src/payment/protocol/order.ts';
import type { Backend } from '../src/storage/backend.ts';
import { openMemoryBackend } from '../src/storage/memory/backend.ts';
import { RESERVATION_COUNT_MAX } from '../src/storage/memory/reservations.ts';
import { openPostgresBackend } from '../src/storage/postgres/backend.ts';
import { openSqliteBackend } from '../src/storage/sqlite/backend.ts';
import { StateDatabase } from '../src/storage/sqlite/database.ts';
import { STATE_FILE } from '../src/storage/sqlite/state.ts';
import { PAYMENTS, type PaymentOperation } from '../src/storage/sqlite/tables/payments.ts';
import { orderFor } from '../test/payment/fixture.ts';
import { appPorts } from '../test/support/app-ports.ts';
import { inlineWriter } from '../test/support/inline-writer.ts';
import { promptWorker, trustingWorker } from '../test/support/recovery.ts';
import { SALES_KEPT_MS } from '../test/support/sale.ts';
import { decodeHeader, encodeHeader, type Payment, type PaymentRequired, wallet } from '../test/support/wallet.ts';
import { type Context, type Figure, figureOf, heapBytes, pause, type Size, shareOf, sized } from './harness.ts';

const BASE_URL = 'http://bench.example';
const SEARCH = '/v1/jobs/search?keyword=engineer';
const SLOW_SYNC_MS = 10;
export const IN_FLIGHT_COUNT = 32;
/** Events of one callback: its maximum. */
const EVENT_COUNT = 10;
const TICK_MS = 1;
const WEBHOOK_BODY = JSON.stringify({ type: 'invoice.paid', note: 'x'.repeat(1000) });

export interface Shop {
  readonly name: string;
  readonly app: App;
  readonly folder: string | undefined;
}

export interface Kind {
  readonly name: string;
  /** The state is in this database. */
  readonly databaseUrl?: string;
  readonly sync?: 'full' | 'normal';
  readonly commitDelayMs?: number;
  /** The writer is on the main thread: what the thread of its own is there to avoid. */
  readonly isInline?: boolean;
}

const MEMORY: Kind = { name: 'memory' };
const NORMAL: Kind = { name: 'sync normal', sync: 'normal' };
export const FULL: Kind = { name: 'sync full', sync: 'full' };
const SLOW: Kind = { name: `sync full + ${SLOW_SYNC_MS} ms`, sync: 'full', commitDelayMs: SLOW_SYNC_MS };
const INLINE_SLOW: Kind = { ...SLOW, name: `on the main thread, ${SLOW.name}`, isInline: true };

/** @param isVerifying false: every signature counts as its payer's, so that only the rest is measured */
export async function openShop(
  { name, databaseUrl, sync, commitDelayMs, isInline }: Kind,
  isVerifying: boolean,
): Promise<Shop> {
  const folder = sync === undefined ? undefined : mkdtempSync(join(tmpdir(), 'paygrade-bench-state-'));
  const config = CONFIGURATION.fromOptions({
    baseUrl: BASE_URL,
    rateLimitPerMinute: 0,
    callbackLimitPerMinute: 0,
    stateDir: ':memory:',
    localBalance: String(10 ** 15),
    callbackBytes: 2 ** 40,
    logLevel: 'silent',
  });
  const app = await openApp(
    { ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL },
    appPorts({
      onFailure(failure) {
        throw failure;
      },
      recoveryWorker: isVerifying ? promptWorker() : trustingWorker(payerBytes),
      openBackend: (options, ports) => {
        if (databaseUrl !== undefined) return openPostgresBackend({ ...options, databaseUrl, sync: 'full' }, ports);
        if (folder === undefined || sync === undefined) return openMemoryBackend(options, ports);
        const onDisk = { ...options, stateDir: folder, sync, commitDelayMs };
        return openSqliteBackend(onDisk, isInline === true ? { ...ports, openWriter: inlineWriter() } : ports);
      },
    }),
  );
  return { name, app, folder };
}

export async function closeShop({ app, folder }: Shop): Promise<void> {
  app.drain();
  await app.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** Started for the first payments that are signed. */
let signer: Worker | undefined;
const payer = wallet();
const payerBytes = Uint8Array.from(Buffer.from(payer.address.slice(2), 'hex'));
const send = async (app: App, path: string, init: RequestInit = {}): Promise<Response> =>
  app.fetch(new Request(BASE_URL + path, init));

async function offerOf(app: App, path: string, method = 'GET'): Promise<PaymentRequired> {
  const response = await send(app, path, { method });
  deepStrictEqual(response.status, 402);
  return decodeHeader<PaymentRequired>(response.headers.get('payment-required'));
}

const unsigned = `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` as const;

/** Header of an unsigned payment, for servers that do not verify. */
function unsignedPayment(offer: PaymentRequired): string {
  const accepted = offer.accepts[0]!;
  const payment: Payment = {
    x402Version: 2,
    payload: {
      signature: unsigned,
      authorization: {
        from: payer.address,
        to: accepted.payTo,
        value: accepted.amount,
        validAfter: '0',
        validBefore: String(Math.floor(Date.now() / 1000) + 110),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      },
    },
    resource: offer.resource,
    accepted,
  };
  return encodeHeader(payment);
}

export type Ask = () => Promise<void>;

async function paying(app: App, header: string): Promise<void> {
  const response = await send(app, SEARCH, { headers: { 'PAYMENT-SIGNATURE': header } });
  await response.text();
  if (response.status !== 200) throw new Error(`a payment was answered ${response.status}`);
}

async function webhooksFor(app: App, count: number): Promise<Ask[]> {
  const offer = await offerOf(app, '/v1/callbacks', 'POST');
  const asks: Ask[] = [];
  while (asks.length < count) {
    const headers = { 'PAYMENT-SIGNATURE': unsignedPayment(offer) };
    const created = await send(app, '/v1/callbacks', { method: 'POST', headers });
    deepStrictEqual(created.status, 201);
    const { id } = (await created.json()) as { id: string };
    for (let event = 0; event < EVENT_COUNT; event++) {
      asks.push(async () => {
        // Declares the length, as over HTTP: hundreds of bodies without one would exceed what a client may have waiting.
        const headers = { 'Content-Type': 'application/json', 'Content-Length': String(WEBHOOK_BODY.length) };
        const init = { method: 'POST', headers, body: WEBHOOK_BODY };
        const response = await send(app, `/hooks/${id}`, init);
        await response.text();
        if (response.status !== 200) throw new Error(`a webhook was answered ${response.status}`);
      });
    }
  }
  // A callback stores its webhooks one after another, so adjacent requests go to different callbacks.
  const perCallback = asks.length / EVENT_COUNT;
  return asks.map((_, index) => asks[(index % perCallback) * EVENT_COUNT + Math.floor(index / perCallback)]!);
}

export async function paymentsFor(app: App, count: number): Promise<Ask[]> {
  const offer = await offerOf(app, SEARCH);
  return Array.from({ length: count }, () => {
    const header = unsignedPayment(offer);
    return () => paying(app, header);
  });
}

/**
 * Signed in a thread: a client's garbage in the server's own heap is collected in rounds with turns of the loop, which are
 * those of durable state, and would count as its cost.
 */
async function signedPaymentsFor(app: App, count: number): Promise<Ask[]> {
  const response = await send(app, SEARCH);
  deepStrictEqual(response.status, 402);
  const offer = parseOffer(response.headers.get('payment-required')!);
  ok(offer !== undefined);
  signer ??= startThread(new URL('../src/load/signer.ts', import.meta.url), {});
  signer.unref();
  const signed = once(signer, 'message') as Promise<[SignedBatch]>;
  signer.postMessage({ offerIndex: 0, offer, count } satisfies SigningOrder);
  const [{ payments }] = await signed;
  return payments.map(
    ({ header }) =>
      () =>
        paying(app, header),
  );
}

/** One after another: milliseconds of each. */
export async function latencies(asks: readonly Ask[]): Promise<number[]> {
  const millis: number[] = [];
  for (const ask of asks) {
    const startMs = performance.now();
    await ask();
    millis.push(performance.now() - startMs);
  }
  return millis;
}

/** A fixed number in flight at all times: how many a second, and the processor time of one, all threads, microseconds. */
export async function throughput(asks: readonly Ask[]): Promise<{ readonly rate: number; readonly cpuUs: number }> {
  let next = 0;
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const walk = async (): Promise<void> => {
    for (let ask = asks[next++]; ask !== undefined; ask = asks[next++]) await ask();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_COUNT }, walk));
  const { user, system } = process.cpuUsage(startCpu);
  return { rate: (asks.length * 1000) / (performance.now() - startMs), cpuUs: (user + system) / asks.length };
}

/** Requests sent four a millisecond whether or not they are answered. @returns how late each tick of the loop came, ms */
async function latenessDuring(asks: readonly Ask[]): Promise<number[]> {
  const lateness: number[] = [];
  const under: Promise<void>[] = [];
  for (let next = 0; next < asks.length; ) {
    const dueMs = performance.now() + TICK_MS;
    for (let sent = 0; sent < 4 && next < asks.length; sent++) under.push(asks[next++]!());
    await pause(TICK_MS);
    lateness.push(performance.now() - dueMs);
  }
  await Promise.all(under);
  return lateness;
}

type MakeAsks = (app: App, count: number) => Promise<Ask[]>;
const KINDS: readonly (readonly [what: string, make: MakeAsks])[] = [
  ['payment', paymentsFor],
  ['webhook', webhooksFor],
];

async function latencyFigures(size: Size): Promise<Figure[]> {
  const shops = await Promise.all([MEMORY, NORMAL, FULL].map((kind) => openShop(kind, false)));
  const roundCount = sized(size, 2, 9);
  const askCount = sized(size, 50, 400);
  const figures: Figure[] = [];
  for (const [what, make] of KINDS) {
    for (const shop of shops) await latencies(await make(shop.app, askCount));
    const rounds = shops.map(() => ({ p50: [] as number[], p99: [] as number[] }));
    for (let round = 0; round < roundCount; round++) {
      for (const [index, shop] of shops.entries()) {
        const millis = await latencies(await make(shop.app, askCount));
        rounds[index]!.p50.push(shareOf(millis, 0.5));
        rounds[index]!.p99.push(shareOf(millis, 0.99));
      }
    }
    const memory = rounds[0]!;
    for (const [index, { name }] of shops.entries()) {
      const { p50, p99 } = rounds[index]!;
      const added = (these: number[], those: number[]): number[] => these.map((ms, round) => ms - those[round]!);
      const [isBase, label] = [index === 0, index === 0 ? 'whole' : 'added'];
      figures.push(
        figureOf(`${what}, ${name}, ${label}, p50`, 'ms', isBase ? p50 : added(p50, memory.p50)),
        figureOf(`${what}, ${name}, ${label}, p99`, 'ms', isBase ? p99 : added(p99, memory.p99)),
      );
    }
  }
  for (const shop of shops) await closeShop(shop);
  return figures;
}

/** Requests a second with many in flight, the ratio to memory in the same round, and what durability adds of processor time. */
async function throughputFigures(
  size: Size,
  what: string,
  make: MakeAsks,
  isVerifying: boolean,
  askCount: number,
): Promise<Figure[]> {
  const shops = await Promise.all([MEMORY, NORMAL, FULL].map((kind) => openShop(kind, isVerifying)));
  const perSecond: number[][] = shops.map(() => []);
  const cpu: number[][] = shops.map(() => []);
  // Compilers add tens of microseconds to a request in the first ten rounds.
  const warmUpCount = sized(size, 1, 10);
  for (let round = 0; round < warmUpCount + sized(size, 2, 12); round++) {
    for (const [index, shop] of shops.entries()) {
      const asks = await make(shop.app, askCount);
      const { rate, cpuUs } = await throughput(asks);
      if (round < warmUpCount) continue;
      perSecond[index]!.push(rate);
      cpu[index]!.push(cpuUs);
    }
  }
  for (const shop of shops) await closeShop(shop);
  const memory = perSecond[0]!;
  return shops.flatMap(({ name }, index) => {
    const rates = perSecond[index]!;
    const rate = figureOf(`${what}, ${name}, ${IN_FLIGHT_COUNT} in flight`, '/s', rates);
    const times = cpu[index]!;
    if (index === 0) return [rate, figureOf(`${what}, ${name}, processor time`, 'µs', times)];
    const added = times.map((one, round) => one - cpu[0]![round]!);
    const ratios = rates.map((one, round) => one / memory[round]!);
    return [
      rate,
      figureOf(`${what}, ${name} / memory`, 'x', ratios),
      figureOf(`${what}, ${name}, processor time added`, 'µs', added),
    ];
  });
}

async function stallFigures(size: Size): Promise<Figure[]> {
  const shops = await Promise.all([MEMORY, FULL, SLOW, INLINE_SLOW].map((kind) => openShop(kind, false)));
  const askCount = sized(size, 64, 640);
  const figures: Figure[] = [];
  for (const [what, make] of KINDS) {
    const p50: number[][] = shops.map(() => []);
    const p99: number[][] = shops.map(() => []);
    for (let round = 0; round < sized(size, 2, 6); round++) {
      for (const [index, shop] of shops.entries()) {
        const asks = await make(shop.app, askCount);
        const lateness = await latenessDuring(asks);
        if (round === 0) continue;
        p50[index]!.push(shareOf(lateness, 0.5));
        p99[index]!.push(shareOf(lateness, 0.99));
      }
    }
    for (const [index, { name }] of shops.entries()) {
      figures.push(
        figureOf(`lateness of the loop, ${what}s, ${name}, p50`, 'ms', p50[index]!),
        figureOf(`lateness of the loop, ${what}s, ${name}, p99`, 'ms', p99[index]!),
      );
    }
  }
  for (const shop of shops) await closeShop(shop);
  return figures;
}

/** A state with so many used authorizations, all within their window. */
function fill(stateDir: string, count: number): void {
  const database = new StateDatabase({ path: join(stateDir, STATE_FILE), sync: 'normal' });
  const order = orderTextOf(orderFor());
  const validBeforeSeconds = Math.floor(Date.now() / 1000) + 120;
  for (let serial = 1; serial <= count; ) {
    const batch: PaymentOperation[] = [];
    for (; serial <= count && batch.length < 8192; serial++) {
      const key = reservationKeyOf(BASE, `0x${'ab'.repeat(20)}`, encodeHex(systemRandom.bytes(32)));
      const transaction = encodeHex(systemRandom.bytes(32));
      batch.push(
        {
          table: PAYMENTS,
          kind: 'intent',
          serial,
          isPlay: true,
          payer: `0x${'ab'.repeat(20)}`,
          valueAtomic: 20_000n,
          order,
          sale: '{}',
          answers: [],
        },
        {
          table: PAYMENTS,
          kind: 'end',
          serial,
          end: { kind: 'settled', key, validBeforeSeconds, transaction },
          sale: undefined,
          claims: [],
          keptUntilMs: 0,
        },
      );
    }
    const result = database.apply(batch);
    ok(result.kind === 'done' && result.refused.length === 0);
  }
  database.close();
}

async function usedFigures(size: Size): Promise<Figure[]> {
  const count = sized(size, 20_000, RESERVATION_COUNT_MAX);
  const stateDir = mkdtempSync(join(tmpdir(), 'paygrade-bench-used-'));
  const note = `${count} used authorizations`;
  try {
    const emptyMs = await openedMs(mkdtempSync(join(stateDir, 'empty-')));
    fill(stateDir, count);
    const before = heapBytes();
    const rssBefore = process.memoryUsage().rss;
    const startMs = performance.now();
    const backend = await openFolder(stateDir);
    const openMs = performance.now() - startMs;
    const { reservations } = backend;
    deepStrictEqual(reservations.count, count);
    const rssPeak = process.memoryUsage().rss;
    await backend.close();
    const bytes = heapBytes() - before;
    deepStrictEqual(reservations.count, count);
    return [
      { name: 'start on an empty folder', value: emptyMs, unit: 'ms' },
      { name: 'start with used authorizations', value: openMs, unit: 'ms', note },
      { name: 'heap that they hold', value: bytes / 2 ** 20, unit: 'MiB', note },
      { name: 'resident memory that starting took', value: (rssPeak - rssBefore) / 2 ** 20, unit: 'MiB', note },
      { name: 'file', value: statSync(join(stateDir, STATE_FILE)).size / 2 ** 20, unit: 'MiB', note },
    ];
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

const openFolder = (stateDir: string): Promise<Backend> =>
  openSqliteBackend(
    { stateDir, sync: 'full', mayReset: false, salesKeptMs: SALES_KEPT_MS, play: undefined, callbackBytes: 0 },
    { clock: systemClock, timers: systemTimers, random: systemRandom, onStateFault() {}, onFailure() {} },
  );

async function openedMs(stateDir: string): Promise<number> {
  const startMs = performance.now();
  const backend = await openFolder(stateDir);
  const openMs = performance.now() - startMs;
  await backend.close();
  return openMs;
}

export async function measure({ size }: Context): Promise<Figure[]> {
  return [
    ...(await usedFigures(size)),
    ...(await latencyFigures(size)),
    ...(await throughputFigures(size, 'payment, verified', signedPaymentsFor, true, sized(size, 64, 1280))),
    ...(await throughputFigures(size, 'payment, unverified', paymentsFor, false, sized(size, 128, 1280))),
    ...(await throughputFigures(size, 'webhook', webhooksFor, false, sized(size, 128, 1280))),
    ...(await stallFigures(size)),
  ];
}
