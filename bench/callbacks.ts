/**
 * The callbacks at their size, one question a run:
 *
 *   node --expose-gc bench/callbacks.ts expiry [--count 100000]   three ways to end entries: worst stall, heap an entry
 *   node --expose-gc bench/callbacks.ts live [--count 100000]     live callbacks with ten events of 1 KiB: heap, speed, the end
 *   node --expose-gc bench/callbacks.ts full [--count 1000]       callbacks full of long bodies: what memory holds of them
 *   node --expose-gc bench/callbacks.ts waits [--count 10000]     waits held and woken over sockets, server in its own process
 *   node --expose-gc bench/callbacks.ts woken                     1,000 waits over 100 callbacks, one post each
 *
 * `bun --expose-gc` runs the same under Bun. Each prints one JSON line; answers are checked before anything is timed.
 * Heap is `heapUsed` and array buffers after a collection on Node, what `Bun.gc` returns on Bun.
 *
 * Results, Node 26.10.0 / Bun 1.4.5, two cores shared with other work (load 3 to 6), commit ccc5be2 (expiry: see
 * callback/expiry-map.ts):
 *
 *   live 100,000     creates/s 20,466 / 99,293    posts/s of 1 KiB 22,802 / 30,517    reads of ten/s 122,200 / 19,392
 *                    KiB of heap a callback: empty 0.67 / 0.53, with ten events of 1 KiB 16.0 / 15.5; RSS 1,860 / 2,405 MiB
 *                    all of them expiring: longest turn 9.8 / 30.4 ms; an hour later no entry, claim or timer is left
 *   full 1,000       2,500 MiB go to the store, memory holds 3.2 / 2.9 MiB; 2.6 / 1.6 ms a post of 262,144 bytes
 *   woken            1,000 waits on 100 callbacks, 100 posts in the same moment: all answered in 517 / 178 ms
 *   waits 10,000     200 callbacks, one post each 20 ms: wake p50 7.9 / 2.8 ms, p99 119 / 7.3 ms; a wait is 20.2 / 5.2 KiB
 *                    of RSS, 9.4 / 2.5 KiB of heap, socket included
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../src/base/clock.ts';
import { systemRandom } from '../src/base/random.ts';
import type { Timers } from '../src/base/timers.ts';
import { retainedHeaders, type Webhook } from '../src/callback/event.ts';
import { ExpiryMap } from '../src/callback/expiry-map.ts';
import { Inbox } from '../src/callback/inbox.ts';
import { CLAIM_BYTES, LIFETIME_MS, TOMBSTONE_MS } from '../src/callback/limits.ts';
import { bodyFormOf } from '../src/callback/media-type.ts';
import { MemoryStore } from '../src/callback/memory-store.ts';

const { values, positionals } = parseArgs({
  options: { count: { type: 'string' }, variant: { type: 'string' } },
  allowPositionals: true,
});
const runtime = process.versions.bun === undefined ? `Node ${process.versions.node}` : `Bun ${process.versions.bun}`;
const countOr = (fallback: number): number => Number(values.count ?? fallback);
const print = (figures: object): void => console.log(JSON.stringify({ runtime, ...figures }));

/** Bytes in use after a full collection. */
function heapBytes(): number {
  const { Bun } = globalThis as unknown as { Bun?: { gc(force: boolean): number } };
  if (Bun !== undefined) return Bun.gc(true);
  globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Longest turn of the loop in which `progress` moved, until it reaches `end`. A turn counts with the processor time of the
 * process where that is less than the wall time: on a shared machine the rest was somebody else's.
 */
async function worstStallMs(progress: () => number, end: number): Promise<number> {
  let worst = 0;
  let lastProgress = progress();
  while (lastProgress !== end) {
    const startMs = performance.now();
    const cpu = process.cpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    const now = progress();
    if (now === lastProgress) continue;
    lastProgress = now;
    const { user, system } = process.cpuUsage(cpu);
    worst = Math.max(worst, Math.min(performance.now() - startMs, (user + system) / 1000));
  }
  return worst;
}

/** Real time that can jump: what falls due by a jump fires in the next turns, as real timers would. */
class JumpingTime implements Clock, Timers {
  #shiftMs = 0;
  readonly #pending = new Map<object, { atMs: number; fire: () => void; cancelReal: () => void }>();

  nowMs(): number {
    return Math.floor(Date.now() + this.#shiftMs);
  }

  monotonicMs(): number {
    return performance.now() + this.#shiftMs;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  after(delayMs: number, run: () => void): () => void {
    const key = {};
    const fire = (): void => {
      if (this.#pending.delete(key)) run();
    };
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    this.#pending.set(key, { atMs: this.monotonicMs() + delayMs, fire, cancelReal: () => clearTimeout(timer) });
    return () => {
      clearTimeout(timer);
      this.#pending.delete(key);
    };
  }

  jump(byMs: number): void {
    this.#shiftMs += byMs;
    for (const { atMs, fire, cancelReal } of [...this.#pending.values()]) {
      if (atMs > this.monotonicMs()) continue;
      cancelReal();
      setTimeout(fire, 0);
    }
  }
}

// ---- expiry ----

interface Entry {
  readonly n: number;
}

/** One variant a process: the garbage of one would be the stall of the next. */
async function expiry(count: number): Promise<void> {
  const { variant } = values;
  if (variant === undefined) {
    for (const each of ['ttlAutopurge', 'purgeStale', 'front sweep', 'ttlAutopurge', 'purgeStale', 'front sweep']) {
      const words = [
        ...process.execArgv,
        fileURLToPath(import.meta.url),
        'expiry',
        '--count',
        String(count),
        '--variant',
        each,
      ];
      await new Promise((resolve) => spawn(process.execPath, words, { stdio: 'inherit' }).once('exit', resolve));
    }
    return;
  }
  const lifetimeMs = 5_000;
  const ids = Array.from({ length: count }, () => `cb_${systemRandom.uuid().slice(0, 24)}`);
  const before = heapBytes();
  const shared = { ttl: lifetimeMs, ttlResolution: 0, perf: { now: () => performance.now() + 1 } };
  let endedCount = 0;
  let size: () => number;
  let set: (id: string, entry: Entry) => void;
  if (variant === 'front sweep') {
    const time = new JumpingTime();
    const map = new ExpiryMap<Entry>({ lifetimeMs, clock: time, timers: time, onEnd: () => endedCount++ });
    size = () => map.size;
    set = (id, entry) => map.set(id, entry);
  } else {
    const dispose = (): void => {
      endedCount++;
    };
    const map =
      variant === 'ttlAutopurge'
        ? new LRUCache<string, Entry>({ ...shared, ttlAutopurge: true, dispose })
        : new LRUCache<string, Entry>({
            ...shared,
            maxSize: Number.MAX_SAFE_INTEGER,
            sizeCalculation: () => 1,
            dispose,
          });
    if (variant === 'purgeStale') setInterval(() => map.purgeStale(), 1_000).unref();
    size = () => map.size;
    set = (id, entry) => map.set(id, entry);
  }
  const startMs = performance.now();
  for (const [n, id] of ids.entries()) set(id, { n });
  const setUs = ((performance.now() - startMs) * 1000) / count;
  const heapAnEntry = (heapBytes() - before) / count;
  const stallMs = await worstStallMs(() => endedCount, count);
  deepStrictEqual(size(), 0);
  print({
    question: 'expiry',
    variant,
    count,
    setUs: round(setUs, 2),
    heapAnEntry: round(heapAnEntry),
    worstStallMs: round(stallMs, 1),
  });
}

// ---- live ----

function webhookOf(bytes: Uint8Array): Webhook {
  const contentType = 'application/json';
  const headers: Record<string, string> = {
    'content-type': contentType,
    'user-agent': 'Sender/1.0',
    'webhook-id': 'msg_2b5nDkYVbTmPj0Xv7yqL',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  };
  const form = bodyFormOf(contentType);
  ok(form);
  return { method: 'POST', form, retained: retainedHeaders((name) => headers[name] ?? null), bytes };
}

function jsonBody(n: number, byteCount: number): Uint8Array {
  const frame = `{"n":${n},"text":""}`;
  return new TextEncoder().encode(`{"n":${n},"text":"${'x'.repeat(byteCount - frame.length)}"}`);
}

async function live(count: number): Promise<void> {
  const time = new JumpingTime();
  const store = new MemoryStore();
  const inbox = new Inbox((count + 1) * CLAIM_BYTES, {
    clock: time,
    random: systemRandom,
    timers: time,
    store,
    onStoreFault: (fault) => {
      throw fault;
    },
  });
  const post = async (id: Parameters<Inbox['admit']>[0], bytes: Uint8Array): Promise<void> => {
    const admission = inbox.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    const received = await inbox.receive(admission.callback, webhookOf(bytes));
    deepStrictEqual(received.kind, 'stored');
  };
  const create = () => {
    ok(inbox.room.tryClaim());
    return inbox.create();
  };
  const checked = await create();
  await post(checked.id, jsonBody(1, 1_024));
  const listing = await inbox.events(checked.id);
  ok(listing.kind === 'events' && JSON.parse(listing.events[0] as string).size_bytes === 1_024);
  await inbox.delete(checked.id);

  const before = heapBytes();
  let startMs = performance.now();
  const created = [];
  for (let i = 0; i < count; i++) created.push(await create());
  const createsASecond = (count * 1000) / (performance.now() - startMs);
  const heapEmpty = heapBytes() - before;

  startMs = performance.now();
  for (let e = 0; e < 10; e++) for (const { id } of created) await post(id, jsonBody(e, 1_024));
  const postsASecond = (count * 10_000) / (performance.now() - startMs);
  const heapFull = heapBytes() - before;
  const rssBytes = process.memoryUsage().rss;

  startMs = performance.now();
  let readCharacters = 0;
  for (const { id } of created) {
    const read = await inbox.events(id);
    if (read.kind !== 'events') throw new Error(read.kind);
    readCharacters += read.events.join(',').length;
  }
  const readsASecond = (count * 1000) / (performance.now() - startMs);
  ok(readCharacters > count * 10 * 1_024);

  deepStrictEqual(inbox.counts.live, count);
  time.jump(LIFETIME_MS);
  const stallMs = await worstStallMs(() => inbox.counts.live, 0);
  const heapAtEnd = heapBytes() - before;
  time.jump(TOMBSTONE_MS);
  await worstStallMs(() => inbox.counts.tombstones + inbox.counts.strangers, 0);
  created.length = 0;
  const heapAfterwards = heapBytes() - before;
  deepStrictEqual(inbox.counts, { live: 0, tombstones: 0, strangers: 0, waits: 0 });
  deepStrictEqual([inbox.room.claimedBytes, store.size, time.pendingCount], [0, 0, 0]);
  print({
    question: 'live',
    count,
    createsASecond: round(createsASecond),
    postsASecond: round(postsASecond),
    readsASecond: round(readsASecond),
    heapKibAnEmptyCallback: round(heapEmpty / count / 1024, 2),
    heapKibAFullCallback: round(heapFull / count / 1024, 2),
    rssMib: round(rssBytes / 2 ** 20),
    expiryWorstStallMs: round(stallMs, 1),
    heapMibAfterExpiry: round(heapAtEnd / 2 ** 20, 1),
    heapMibAfterAnHourMore: round(heapAfterwards / 2 ** 20, 1),
  });
}

// ---- full ----

/** Counts what a disk would hold. */
class CountingStore extends MemoryStore {
  bytes = 0;

  override async append(_: unknown, event: { readonly bytes: Uint8Array }): Promise<void> {
    this.bytes += event.bytes.length;
  }
}

async function full(count: number): Promise<void> {
  const time = new JumpingTime();
  const store = new CountingStore();
  const inbox = new Inbox(count * CLAIM_BYTES, {
    clock: time,
    random: systemRandom,
    timers: time,
    store,
    onStoreFault: () => {},
  });
  const before = heapBytes();
  const startMs = performance.now();
  for (let i = 0; i < count; i++) {
    ok(inbox.room.tryClaim());
    const { id } = await inbox.create();
    for (let e = 0; e < 10; e++) {
      const admission = inbox.admit(id);
      if (admission.kind !== 'admitted') throw new Error(admission.kind);
      await inbox.receive(admission.callback, webhookOf(jsonBody(e, 262_144)));
    }
  }
  const postMs = (performance.now() - startMs) / (count * 10);
  deepStrictEqual(store.bytes, count * 10 * 262_144);
  print({
    question: 'full',
    count,
    storedMib: round(store.bytes / 2 ** 20),
    heapMib: round((heapBytes() - before) / 2 ** 20, 1),
    postMs: round(postMs, 2),
  });
  inbox.close();
}

// ---- waits ----

interface Served {
  readonly port: number;
  readonly stop: () => void;
  get(path: string): Promise<Record<string, number>>;
}

async function serve(): Promise<Served> {
  const script = fileURLToPath(new URL('../test/support/callback-server.ts', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', script], {
    env: { PATH: process.env.PATH, PAYMENT: 'taken' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(Number(/:(\d+)\n/.exec(text)?.[1])));
  });
  return {
    port,
    stop: () => child.kill('SIGKILL'),
    get: async (path) => (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Record<string, number>,
  };
}

interface Held {
  readonly socket: Socket;
  readonly answered: Promise<number>;
}

function hold(port: number, id: string, token: string): Promise<Held> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET /v1/callbacks/${id}/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      resolve({ socket, answered });
    });
    socket.setNoDelay(true);
    const answered = new Promise<number>((answer) => {
      socket.once('data', (data) => {
        ok(data.includes('"received":true'), data.toString());
        answer(performance.now());
      });
    });
    socket.once('error', reject);
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function waits(count: number, callbackCount: number, spacingMs: number): Promise<void> {
  const server = await serve();
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const callbacks: { id: string; read_token: string }[] = [];
    for (let i = 0; i < callbackCount; i++) {
      callbacks.push(
        (await (await fetch(`${url}/v1/callbacks`, { method: 'POST' })).json()) as { id: string; read_token: string },
      );
    }
    await server.get('/counts');
    const before = await server.get('/counts');
    const held: Held[][] = callbacks.map(() => []);
    for (let i = 0; i < count; i += 100) {
      await Promise.all(
        Array.from({ length: Math.min(100, count - i) }, async (_, j) => {
          const which = (i + j) % callbackCount;
          const { id, read_token } = callbacks[which] as { id: string; read_token: string };
          (held[which] as Held[]).push(await hold(server.port, id, read_token));
        }),
      );
    }
    let during = await server.get('/counts');
    for (let tries = 0; during.waits !== count && tries < 50; tries++) {
      await pause(50);
      during = await server.get('/counts');
    }
    deepStrictEqual(during.waits, count);
    const wakeMs: number[] = [];
    const firstMs = performance.now();
    const posts = callbacks.map(async ({ id }, which) => {
      await pause(which * spacingMs);
      const startMs = performance.now();
      const posted = fetch(`${url}/hooks/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: 'x',
      });
      const answered = await Promise.all((held[which] as Held[]).map((each) => each.answered));
      for (const answeredMs of answered) wakeMs.push(answeredMs - startMs);
      ok((await posted).ok);
    });
    await Promise.all(posts);
    const allMs = performance.now() - firstMs;
    const after = await server.get('/counts');
    deepStrictEqual([after.waits, wakeMs.length], [0, count]);
    for (const sockets of held) for (const { socket } of sockets) socket.destroy();
    wakeMs.sort((a, b) => a - b);
    print({
      question: 'waits',
      count,
      callbackCount,
      spacingMs,
      rssKibAWait: round(((during.rss ?? 0) - (before.rss ?? 0)) / count / 1024, 1),
      heapKibAWait: round(((during.heapUsed ?? 0) - (before.heapUsed ?? 0)) / count / 1024, 2),
      wakeP50Ms: round(quantile(wakeMs, 0.5), 2),
      wakeP99Ms: round(quantile(wakeMs, 0.99), 2),
      allMs: round(allMs),
    });
  } finally {
    server.stop();
  }
}

function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

switch (positionals[0]) {
  case 'expiry':
    await expiry(countOr(100_000));
    break;
  case 'live':
    await live(countOr(100_000));
    break;
  case 'full':
    await full(countOr(1_000));
    break;
  case 'waits':
    await waits(countOr(10_000), Math.ceil(countOr(10_000) / 50), 20);
    break;
  case 'woken':
    await waits(1_000, 100, 0);
    break;
  default:
    console.error('ask one of: expiry, live, full, waits, woken');
    process.exitCode = 2;
}
