/**
 * What every bench file shares: the form of a figure, timing with tinybench, and memory. Calls are timed in batches of about a
 * tenth of a millisecond, which hides the cost and granularity of the timer. The figure is the median of the batches, with its
 * quartiles as the spread. Compare figures of one run only: across runs a shared machine moves them by a factor of two.
 */
import { readFileSync } from 'node:fs';
import { Bench } from 'tinybench';

export type Unit = 'µs' | 'ms' | 's' | 'B' | 'KiB' | 'MiB' | '/s' | 'x';

/** One measured number. Smaller is better, except for `/s`. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  /** Quartiles, when there were several rounds. */
  readonly low?: number;
  readonly high?: number;
  readonly note?: string;
}

export type Size = 'small' | 'full';

export interface Context {
  readonly size: Size;
  /** Path of the catalogue: a synthetic one (synthetic-catalogue.ts) of this size, or the one from `--catalogue`. */
  readonly cataloguePath: string;
  /** Path of the catalogue with descriptions and history (data-catalogue.ts), or the one from `--data-catalogue`. */
  readonly dataCataloguePath: string;
}

/** One question, in a file by itself: checks its answers, then measures. */
export type Measure = (context: Context) => Promise<Figure[]>;

export const isBun = process.versions.bun !== undefined;
export const RUNTIME = isBun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`;

/** `small` runs with the tests; `full` is for published numbers. */
export const sized = (size: Size, small: number, full: number): number => (size === 'small' ? small : full);

const BATCH_MS = 0.1;
const CALIBRATION_MS = 20;

/** Measuring time per call, milliseconds. */
const timeMsOf = (size: Size): number => sized(size, 60, 600);

/** Calls in a batch, by a first measurement that also lets the runtime compile. */
function batchOf(run: () => unknown): number {
  let calls = 0;
  const startMs = performance.now();
  do {
    run();
    calls++;
  } while (performance.now() - startMs < CALIBRATION_MS);
  return Math.max(1, Math.round((calls * BATCH_MS) / (performance.now() - startMs)));
}

async function batchOfAsync(run: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  const startMs = performance.now();
  do {
    await run();
    calls++;
  } while (performance.now() - startMs < CALIBRATION_MS);
  return Math.max(1, Math.round((calls * BATCH_MS) / (performance.now() - startMs)));
}

async function measured(name: string, size: Size, calls: number, batch: () => unknown, note?: string): Promise<Figure> {
  const bench = new Bench({ time: timeMsOf(size), iterations: 8, warmupTime: timeMsOf(size) / 4, retainSamples: true });
  bench.add(name, batch);
  const [task] = await bench.run();
  const result = task?.result;
  if (result === undefined || !('latency' in result) || result.latency.samples === undefined) {
    throw new Error(`${name}: ${String((result as { error?: unknown } | undefined)?.error ?? 'was not measured')}`);
  }
  const micros = Array.from(result.latency.samples, (ms) => (ms * 1000) / calls);
  return figureOf(name, 'µs', micros, note);
}

/** Median time of a synchronous call, µs. */
export function timed(name: string, size: Size, run: () => unknown, note?: string): Promise<Figure> {
  const calls = batchOf(run);
  const batch = (): void => {
    for (let i = 0; i < calls; i++) run();
  };
  return measured(name, size, calls, batch, note);
}

/** Median time of an asynchronous call, µs, awaited one after the other. */
export async function timedAsync(name: string, size: Size, run: () => Promise<unknown>): Promise<Figure> {
  const calls = await batchOfAsync(run);
  const batch = async (): Promise<void> => {
    for (let i = 0; i < calls; i++) await run();
  };
  return measured(name, size, calls, batch);
}

/** The value at a share (0..1) of sorted numbers. */
export const quantile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** The value at a share (0..1) of numbers in any order. */
export const shareOf = (values: readonly number[], share: number): number =>
  quantile(Float64Array.from(values).sort(), share);

export const median = (values: readonly number[]): number => shareOf(values, 0.5);

/** Processor time of this process so far, all threads, µs. */
export const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Median and quartiles of several rounds. */
export function figureOf(name: string, unit: Unit, rounds: readonly number[], note?: string): Figure {
  const sorted = Float64Array.from(rounds).sort();
  return {
    name,
    unit,
    value: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    ...(note === undefined ? {} : { note }),
  };
}

/** Single calls: median and quartiles, the 99th percentile as a note. */
export const figureOfCalls = (name: string, micros: readonly number[]): Figure =>
  figureOf(name, 'µs', micros, `p99 ${Math.round(shareOf(micros, 0.99))} µs`);

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Peak resident size of this process, bytes. Not `maxRSS`, which includes the parent's size at the fork. */
export function peakResidentBytes(): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024; // not Linux
  }
}

/** Bytes in use after a full collection: heap and array buffers on Node (with --expose-gc), the result of `Bun.gc` on Bun. */
export function heapBytes(): number {
  const { Bun } = globalThis as unknown as { Bun?: { gc(force: boolean): number } };
  if (Bun !== undefined) return Bun.gc(true);
  if (globalThis.gc === undefined) throw new Error('the heap can only be measured with --expose-gc');
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
