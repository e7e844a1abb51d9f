/**
 * How long requests wait for a core: a simulation of servers with one queue, and the closed form for exponential service times
 * with which it is compared. Times are in units of the mean service time, so one figure serves every part.
 */
import { SeededRandom } from '../../src/base/seeded-random.ts';

export interface QueuePlan {
  /** Cores that take from one queue. */
  readonly servers: number;
  /** Share of the time that a core is busy, below 1. */
  readonly utilization: number;
  /** Service times with mean 1. */
  readonly service: 'exponential' | 'constant' | 'mixed';
  readonly requests: number;
  readonly seed: number;
}

export interface QueueTimes {
  /** From arrival to completion, in mean service times. */
  readonly p50: number;
  readonly p99: number;
  /** Of the wait alone. */
  readonly waitP99: number;
}

/** Nine of ten requests take 0.6, one takes 4.6 (mean 1), like cheap questions mixed with the most expensive. */
const MIXED = { cheap: 0.6, dear: 4.6, dearShare: 0.1 } as const;

export function simulateQueue({ servers, utilization, service, requests, seed }: QueuePlan): QueueTimes {
  const random = new SeededRandom(seed);
  const unit = (): number => (random.bits() + 1) / 2 ** 32;
  const exponential = (): number => -Math.log(unit());
  const serviceTime = (): number => {
    if (service === 'exponential') return exponential();
    if (service === 'constant') return 1;
    return unit() < MIXED.dearShare ? MIXED.dear : MIXED.cheap;
  };
  /** When each core is free, a binary heap: the smallest first. */
  const freeAt = new Float64Array(servers);
  const times = new Float64Array(requests);
  const waits = new Float64Array(requests);
  const warmUp = Math.floor(requests / 10);
  let now = 0;
  for (let i = -warmUp; i < requests; i++) {
    now += exponential() / (servers * utilization);
    const begin = Math.max(now, freeAt[0]!);
    const end = begin + serviceTime();
    replaceFirst(freeAt, end);
    if (i < 0) continue;
    times[i] = end - now;
    waits[i] = begin - now;
  }
  times.sort();
  waits.sort();
  const at = (sorted: Float64Array, share: number): number => sorted[Math.floor(requests * share)]!;
  return { p50: at(times, 0.5), p99: at(times, 0.99), waitP99: at(waits, 0.99) };
}

/** Replaces the smallest value of a heap. */
function replaceFirst(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const child = left + 1 < heap.length && heap[left + 1]! < heap[left]! ? left + 1 : left;
    if (heap[child]! >= value) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = value;
}

/** Erlang's C: the share of requests that wait, exponential service times. */
export function waitingShare(servers: number, utilization: number): number {
  const offered = servers * utilization;
  // Erlang's B by its recursion, which does not overflow.
  let blocked = 1;
  for (let i = 1; i <= servers; i++) blocked = (offered * blocked) / (i + offered * blocked);
  return blocked / (1 - utilization * (1 - blocked));
}

/** The wait that one request in a hundred exceeds, exponential service times. */
export const waitP99 = (servers: number, utilization: number): number =>
  Math.max(0, Math.log(waitingShare(servers, utilization) / 0.01) / (servers * (1 - utilization)));
