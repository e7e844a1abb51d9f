/**
 * Many callbacks in memory: the time of each step, the memory they hold, the cost of sweeps, the longest turn when all
 * of them end at once, and callbacks full of long bodies.
 *
 * Why the inbox sweeps as it does, with 100,000 entries inserted at once (two runs each, Node 26.10 / Bun 1.4.5 on two shared
 * cores; longest turn in processor time, heap an entry): lru-cache's timer for each entry (`ttlAutopurge`) 6..12 / 5..16 ms
 * and 336 / 278 B; its `purgeStale` 78..102 / 100..102 ms and 81 / 110 B; sweeps of 256 at a time 4..5 / 8..10 ms and
 * 81 / 110 B. A sweep for each of 167 ends a second, in place of one in SWEEP_PAUSE_MS, took 4 to 7 ms of every second.
 *
 * Measured before (Node 26): a callback with ten events of 1 KiB holds 16.1 KiB with identifiers joined in one step, 22.6 KiB
 * with identifiers that grow letter by letter.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { type Clock, systemClock } from '../src/base/clock.ts';
import { bodyFormOf } from '../src/base/media-type.ts';
import { systemRandom } from '../src/base/random.ts';
import type { Timers } from '../src/base/timers.ts';
import type { CallbackHandle, Created } from '../src/callback/callbacks.ts';
import { retainedHeaders, type Webhook } from '../src/callback/event.ts';
import { ExpiryMap } from '../src/callback/inbox/expiry-map.ts';
import { Inbox } from '../src/callback/inbox/inbox.ts';
import { CLAIM_BYTES, LIFETIME_MS, SWEEP_PAUSE_MS, TOMBSTONE_MS } from '../src/callback/limits.ts';
import { MemoryEventStore } from '../src/storage/memory/event-store.ts';
import { type Context, type Figure, figureOf, heapBytes, pause, type Size, sized } from './harness.ts';

/** Real time that can jump: timers that fall due in a jump fire in the next turns, as real ones would. */
class JumpingTime implements Clock, Timers {
  #shiftMs = 0;
  /** Time spent in timer callbacks, milliseconds. */
  spentMs = 0;
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
      if (!this.#pending.delete(key)) return;
      const startMs = performance.now();
      run();
      this.spentMs += performance.now() - startMs;
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

/**
 * Longest turn of the loop in which `left` moved, until it is 0. A turn counts with the process's processor
 * time if that is less than the wall time: on a shared machine other processes took the rest.
 */
async function worstStallMs(left: () => number): Promise<number> {
  let worst = 0;
  let before = left();
  while (before !== 0) {
    const startMs = performance.now();
    const cpu = process.cpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    const now = left();
    if (now === before) continue;
    before = now;
    const { user, system } = process.cpuUsage(cpu);
    worst = Math.max(worst, Math.min(performance.now() - startMs, (user + system) / 1000));
  }
  return worst;
}

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

async function post(inbox: Inbox, id: Created['id'], bytes: Uint8Array): Promise<void> {
  const admission = inbox.admit(id);
  if (admission.kind !== 'admitted') throw new Error(admission.kind);
  deepStrictEqual((await inbox.receive(admission.callback, webhookOf(bytes))).kind, 'stored');
}

function create(inbox: Inbox): Promise<Created> {
  ok(inbox.capacity.tryClaim());
  return inbox.create(inbox.draft());
}

/** As a request with the read token finds it. */
function handleOf(inbox: Inbox, { id, readToken }: Created): CallbackHandle {
  const authorized = inbox.authorize(id, readToken);
  if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
  return authorized.callback;
}

const EVENT_BYTES = 1_024;

function openInbox(count: number, time: JumpingTime, store: MemoryEventStore): Inbox {
  return new Inbox((count + 1) * CLAIM_BYTES, {
    clock: time,
    random: systemRandom,
    timers: time,
    store,
    onFailure: (fault) => {
      throw fault;
    },
  });
}

async function live(count: number): Promise<Figure[]> {
  const time = new JumpingTime();
  const store = new MemoryEventStore();
  const inbox = openInbox(count, time, store);
  const checked = await create(inbox);
  await post(inbox, checked.id, jsonBody(1, EVENT_BYTES));
  const listing = await inbox.events(handleOf(inbox, checked));
  ok(listing.kind === 'events' && JSON.parse(listing.events[0] as string).size_bytes === EVENT_BYTES);
  await inbox.delete(handleOf(inbox, checked));

  const before = heapBytes();
  const created: Created[] = [];
  let startMs = performance.now();
  const spent = (steps: number): number => ((performance.now() - startMs) * 1000) / steps;
  for (let i = 0; i < count; i++) created.push(await create(inbox));
  const createMicros = spent(count);
  const emptyBytes = (heapBytes() - before) / count;
  startMs = performance.now();
  for (let e = 0; e < 10; e++) for (const { id } of created) await post(inbox, id, jsonBody(e, EVENT_BYTES));
  const postMicros = spent(count * 10);
  const fullBytes = (heapBytes() - before) / count;
  // The token was checked before: its digest is not part of reading.
  const handles = created.map((each) => handleOf(inbox, each));
  startMs = performance.now();
  let readCharacters = 0;
  for (const handle of handles) {
    const read = await inbox.events(handle);
    if (read.kind !== 'events') throw new Error(read.kind);
    readCharacters += read.events.join(',').length;
  }
  const readMicros = spent(count);
  ok(readCharacters > count * 10 * EVENT_BYTES);

  time.spentMs = 0;
  time.jump(LIFETIME_MS);
  const stallMs = await worstStallMs(() => inbox.counts.live);
  const endMicros = (time.spentMs * 1000) / count;
  time.jump(TOMBSTONE_MS);
  await worstStallMs(() => inbox.counts.tombstones + inbox.counts.unknownIds);
  deepStrictEqual(inbox.counts, { live: 0, tombstones: 0, unknownIds: 0, waits: 0 });
  deepStrictEqual([inbox.capacity.claimedBytes, store.size, time.pendingCount], [0, 0, 0]);
  const note = `${count} live`;
  return [
    { name: 'created', value: createMicros, unit: 'µs', note },
    { name: 'a webhook of 1 KiB received', value: postMicros, unit: 'µs' },
    { name: 'ten events read', value: readMicros, unit: 'µs' },
    { name: 'heap of an empty callback', value: emptyBytes / 1024, unit: 'KiB' },
    { name: 'heap with ten events of 1 KiB', value: fullBytes / 1024, unit: 'KiB' },
    { name: 'ended', value: endMicros, unit: 'µs' },
    { name: 'longest turn while all end', value: stallMs, unit: 'ms' },
  ];
}

/**
 * What a full inbox costs the loop: looks at the front of a map with `count` entries, code and data cold, as often as
 * the inbox does for its three maps; and all work of its timers while callbacks end as evenly as they were created.
 */
async function sweeping(size: Size): Promise<Figure[]> {
  const count = sized(size, 2_000, 100_000);
  const map = new ExpiryMap<object>({
    lifetimeMs: LIFETIME_MS,
    sweepPauseMs: SWEEP_PAUSE_MS,
    clock: systemClock,
    timers: systemTimers,
  });
  for (let i = 0; i < count; i++) map.set(`cb_${i}`, {});
  const lookMicros: number[] = [];
  for (let i = 0; i < 15; i++) {
    await pause(200);
    const startMs = performance.now();
    map.sweep();
    lookMicros.push((performance.now() - startMs) * 1000);
  }
  map.close();
  const maps = 3_000 / SWEEP_PAUSE_MS;
  const looking = figureOf(
    'looking for what is due, a second',
    'µs',
    lookMicros.map((micros) => micros * maps),
    `${count} live; at most 10`,
  );
  if (size === 'small') return [looking];

  const time = new JumpingTime();
  const inbox = openInbox(count, time, new MemoryEventStore());
  for (let i = 0; i < count; i++) {
    await create(inbox);
    time.jump(LIFETIME_MS / count);
  }
  await pause(100);
  const live = inbox.counts.live;
  time.spentMs = 0;
  const startMs = performance.now();
  await pause(2 * SWEEP_PAUSE_MS);
  const seconds = (performance.now() - startMs) / 1000;
  const endedCount = live - inbox.counts.live;
  ok(endedCount > (SWEEP_PAUSE_MS * count) / LIFETIME_MS / 2);
  inbox.close();
  return [
    looking,
    {
      name: 'all that timers do a second',
      value: (time.spentMs * 1000) / seconds,
      unit: 'µs',
      note: `${(endedCount / seconds).toFixed(0)} end in each`,
    },
  ];
}

/** Counts the bytes that a disk would hold. */
class CountingStore extends MemoryEventStore {
  bytes = 0;

  override async append(_: unknown, event: { readonly bytes: Uint8Array }): Promise<void> {
    this.bytes += event.bytes.length;
  }
}

const LONG_BYTES = 262_144;

async function full(count: number): Promise<Figure[]> {
  const time = new JumpingTime();
  const store = new CountingStore();
  const inbox = new Inbox(count * CLAIM_BYTES, {
    clock: time,
    random: systemRandom,
    timers: time,
    store,
    onFailure: () => {},
  });
  const before = heapBytes();
  const rssBefore = process.memoryUsage.rss();
  const startMs = performance.now();
  for (let i = 0; i < count; i++) {
    const { id } = await create(inbox);
    for (let e = 0; e < 10; e++) await post(inbox, id, jsonBody(e, LONG_BYTES));
  }
  const postMicros = ((performance.now() - startMs) * 1000) / (count * 10);
  deepStrictEqual(store.bytes, count * 10 * LONG_BYTES);
  const rssBytes = process.memoryUsage.rss() - rssBefore;
  const figures: Figure[] = [
    { name: 'a webhook of 256 KiB received', value: postMicros, unit: 'µs', note: `${count} full callbacks` },
    { name: 'heap of all full callbacks', value: (heapBytes() - before) / 2 ** 20, unit: 'MiB' },
    { name: 'resident memory that they added', value: rssBytes / 2 ** 20, unit: 'MiB' },
  ];
  inbox.close();
  return figures;
}

export async function measure({ size }: Context): Promise<Figure[]> {
  return [
    ...(await full(sized(size, 20, 1_000))),
    ...(await live(sized(size, 2_000, 100_000))),
    ...(await sweeping(size)),
  ];
}
