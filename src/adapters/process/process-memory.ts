/** The memory of this process: how much of it is in use, and how unused memory is given back. */
import { lastKnown } from './last-known.ts';
import { nodeV8, nodeVm } from './late-modules.ts';

export interface MemoryUse {
  readonly residentBytes: number;
  /** null where the runtime's heap has no limit. */
  readonly heap: { readonly usedBytes: number; readonly limitBytes: number } | null;
}

export interface ProcessMemory {
  /** Takes 11 to 17 µs on both runtimes. */
  measure(): MemoryUse;
  /** Collects garbage that the runtime would leave; blocks the event loop meanwhile. */
  collect(): void;
}

function heapUse(): MemoryUse['heap'] {
  const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = nodeV8().getHeapStatistics();
  return { usedBytes, limitBytes };
}

/** V8 exposes its collector only to contexts created while this flag is set; no other code sees it. */
function collectorOfV8(): () => void {
  const { setFlagsFromString } = nodeV8();
  setFlagsFromString('--expose-gc');
  try {
    return nodeVm().runInNewContext('gc') as () => void;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}

/**
 * An idle V8 keeps its garbage: 400 MB stayed for a minute, so overload caused by it would not end. An ordinary
 * collection keeps the pages for another eight seconds, and the next one returns them. A "last resort" collection
 * returns them at once, but blocks the loop for 4 s with 400 MB in use, an ordinary one for 0.2 s.
 */
function nodeMemory(process: NodeJS.Process): ProcessMemory {
  const residentBytes = lastKnown(() => process.memoryUsage.rss());
  let collect: (() => void) | undefined;
  return {
    measure: () => ({ residentBytes: residentBytes(), heap: heapUse() }),
    collect() {
      collect ??= collectorOfV8();
      collect();
    },
  };
}

/**
 * Bun's heap has no limit (what it reports as one is ten times what it has), and its `getHeapStatistics` walks the heap
 * for 7 ms and more, so only resident memory counts. An idle Bun returns hundreds of MB of garbage within 3 to 12 s.
 */
function bunMemory(process: NodeJS.Process): ProcessMemory {
  const residentBytes = lastKnown(() => process.memoryUsage.rss());
  return { measure: () => ({ residentBytes: residentBytes(), heap: null }), collect() {} };
}

/** @returns undefined in a runtime without `process`, where the handler can run too */
export function processMemory(): ProcessMemory | undefined {
  const { process } = globalThis;
  if (typeof process?.memoryUsage?.rss !== 'function') return undefined;
  return process.versions.bun === undefined ? nodeMemory(process) : bunMemory(process);
}
