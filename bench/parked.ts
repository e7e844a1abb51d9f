/**
 * Long polls over real sockets, held by one server process; each post wakes 50. The memory of a held poll is the growth
 * of the process between before the first and when all are held, divided by their number, both after a full collection.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { pause, quantile } from './harness.ts';
import { residentBytesOf, type Served } from './served.ts';

export const GROUP = 50;
/** Polls held and woken before the measurement, so that code is compiled and pools are filled. */
const WARM_COUNT = 4 * GROUP;

/** By contract a wait ends after 30 s; a longer silence means that it is lost. */
const ANSWER_MS_MAX = 60_000;

/** Polls that one post wakes. */
export interface WaitGroup {
  readonly waitPath: string;
  readonly postPath: string;
  readonly token: string;
}

export interface Parked {
  /** Resident size after a full collection. */
  readonly kib: number;
  /** Resident size when all were held, without a collection. */
  readonly uncollectedKib: number;
  readonly heapKib: number;
  /** Milliseconds from the post to each answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wakeMs: Float64Array;
}

interface Held {
  readonly socket: Socket;
  /** When its answer came. */
  readonly answered: Promise<number>;
}

function hold(port: number, { token, waitPath }: WaitGroup): Promise<Held> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${waitPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      resolve({ socket, answered });
    });
    socket.setNoDelay(true);
    socket.once('error', reject);
    const answered = new Promise<number>((answer, fail) => {
      socket.setTimeout(ANSWER_MS_MAX, () => fail(new Error('a parked request was not answered')));
      socket.once('data', (data) => {
        if (data.includes('"received":true')) answer(performance.now());
        else fail(new Error(data.toString()));
      });
    });
  });
}

async function holdAll(port: number, groups: readonly WaitGroup[], count: number): Promise<Held[][]> {
  const held: Held[][] = groups.map(() => []);
  for (let i = 0; i < count; i += 100) {
    const some = Array.from({ length: Math.min(100, count - i) }, async (_, j) => {
      const which = (i + j) % groups.length;
      held[which]!.push(await hold(port, groups[which]!));
    });
    await Promise.all(some);
  }
  return held;
}

async function wakeAll(port: number, groups: readonly WaitGroup[], held: readonly Held[][]): Promise<number[]> {
  const wakeMs: number[] = [];
  for (const [which, { postPath }] of groups.entries()) {
    const startMs = performance.now();
    const posted = fetch(`http://127.0.0.1:${port}${postPath}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    for (const at of await Promise.all(held[which]!.map(({ answered }) => answered))) wakeMs.push(at - startMs);
    await (await posted).arrayBuffer();
  }
  for (const group of held) for (const { socket } of group) socket.destroy();
  return wakeMs;
}

/** @param groups unused ones, enough to hold `count` and WARM_COUNT polls at GROUP each */
export async function measureParked(served: Served, groups: readonly WaitGroup[], count: number): Promise<Parked> {
  const { port, pid } = served;
  deepStrictEqual(groups.length, (count + WARM_COUNT) / GROUP);
  const [warming, measuring] = [groups.slice(0, WARM_COUNT / GROUP), groups.slice(WARM_COUNT / GROUP)];
  await wakeAll(port, warming, await holdAll(port, warming, WARM_COUNT));
  await pause(200);
  const before = await served.memory();
  const held = await holdAll(port, measuring, count);
  await pause(500);
  const uncollectedBytes = residentBytesOf(pid).now;
  const during = await served.memory();
  const wakeMs = Float64Array.from(await wakeAll(port, measuring, held)).sort();
  deepStrictEqual(wakeMs.length, count);
  const kib = (bytes: number): number => bytes / count / 1024;
  return {
    kib: kib(during.residentBytes - before.residentBytes),
    uncollectedKib: kib(uncollectedBytes - before.residentBytes),
    heapKib: kib(during.heapBytes - before.heapBytes),
    p50Ms: quantile(wakeMs, 0.5),
    p99Ms: quantile(wakeMs, 0.99),
    wakeMs,
  };
}

/** Groups of the application: one per bought callback. */
export const groupsOf = (callbacks: readonly { readonly id: string; readonly token: string }[]): WaitGroup[] =>
  callbacks.map(({ id, token }) => ({
    waitPath: `/v1/callbacks/${id}/wait?timeout=30`,
    postPath: `/hooks/${id}`,
    token,
  }));

/** Number of groups that `measureParked` needs for `count` waits. */
export const groupCountFor = (count: number): number => (count + WARM_COUNT) / GROUP;
