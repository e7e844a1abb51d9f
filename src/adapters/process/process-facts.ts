/** The runtime and what it reports about its process. */
import { lastKnown } from './last-known.ts';

export interface ProcessFacts {
  readonly runtime: string;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
}

/** @returns a function that measures, or undefined in a runtime without `process`, where the handler can run too */
export function processFacts(): (() => ProcessFacts) | undefined {
  const { process } = globalThis;
  if (typeof process?.memoryUsage !== 'function' || typeof process.cpuUsage !== 'function') return undefined;
  const memoryUsage = lastKnown(() => process.memoryUsage());
  const { bun, node } = process.versions;
  const runtime = bun === undefined ? `node ${node}` : `bun ${bun}`;
  return () => {
    const { rss, heapUsed } = memoryUsage();
    const { user, system } = process.cpuUsage();
    return { runtime, residentBytes: rss, heapUsedBytes: heapUsed, cpuSeconds: (user + system) / 1_000_000 };
  };
}
