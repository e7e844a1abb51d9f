/** The runtime and what it reports about its process. */
import { lastKnown } from './last-known.ts';

export interface ProcessFacts {
  readonly runtime: string;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
}

const memoryUsage = lastKnown(() => globalThis.process.memoryUsage());

/** @returns undefined in a runtime without `process`, where the handler can run too */
export function processFacts(): ProcessFacts | undefined {
  const { process } = globalThis;
  if (typeof process?.memoryUsage !== 'function' || typeof process.cpuUsage !== 'function') return undefined;
  const { rss, heapUsed } = memoryUsage();
  const { user, system } = process.cpuUsage();
  const { bun, node } = process.versions;
  return {
    runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    cpuSeconds: (user + system) / 1_000_000,
  };
}
