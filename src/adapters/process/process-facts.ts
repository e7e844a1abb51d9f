/** What the runtime says of its process. A runtime that does not say a thing leaves it out. */
export interface ProcessFacts {
  readonly runtime: string;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
}

/** undefined where there is no process to ask: the handler also runs in places that are no Node. */
export function processFacts(): ProcessFacts | undefined {
  const { process } = globalThis;
  if (typeof process?.memoryUsage !== 'function' || typeof process.cpuUsage !== 'function') return undefined;
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const { bun, node } = process.versions;
  return {
    runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    cpuSeconds: (user + system) / 1_000_000,
  };
}
