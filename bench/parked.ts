/**
 * Long polls over real sockets, held by one server process and woken by posts to it, 50 by each. What a held one takes is the
 * growth of the process from before the first to when all are held, both after a full collection.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { pause, quantile } from './harness.ts';
import { residentBytesOf, type Served } from './served.ts';

export const GROUP = 50;
/** Held and woken before anything is measured, so that code and pools are there. */
const WARM_COUNT = 4 * GROUP;

/** The contract's waits end after 30 s by themselves; one that is silent for longer is lost. */
const ANSWER_MS_MAX = 60_000;

/** Those that one post wakes. */
export interface WaitGroup {
  readonly waitPath: string;
  readonly postPath: string;
  readonly token: string;
}

export interface Parked {
  /** Resident, after a full collection. */
  readonly kib: number;
  /** Resident, as it stood when all were held. */
  readonly uncollectedKib: number;
  readonly heapKib: number;
  /** From the post to each answer. */
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

/** @param groups fresh ones, as many as hold `count` and WARM_COUNT by GROUP */
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

/** Groups of an application, from callbacks that were bought from it. */
export const groupsOf = (callbacks: readonly { readonly id: string; readonly token: string }[]): WaitGroup[] =>
  callbacks.map(({ id, token }) => ({
    waitPath: `/v1/callbacks/${id}/wait?timeout=30`,
    postPath: `/hooks/${id}`,
    token,
  }));

/** How many groups `measureParked` wants for `count` waits. */
export const groupCountFor = (count: number): number => (count + WARM_COUNT) / GROUP;
