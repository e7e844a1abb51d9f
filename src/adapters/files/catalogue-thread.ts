/**
 * Loads a catalogue in a thread, so that reading, checking and indexing a million jobs does not block the event loop
 * that answers. A thread lives for one catalogue. It hands over its result without a copy, and before it ends it
 * receives the memory of the replaced catalogue: freeing that of a million jobs takes milliseconds too.
 */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../base/start-thread.ts';
import { onThreadEnd } from '../../base/thread-end.ts';
import { DamagedSnapshotError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { LoadedCatalogue, LoadingMessage, LoadingTask } from './catalogue-wire.ts';

const ENTRY = new URL('./catalogue-worker.ts', import.meta.url);

export type Loading =
  | { readonly kind: 'loaded'; readonly loaded: LoadedCatalogue }
  /** This host starts no such thread. */
  | { readonly kind: 'unavailable' };

export interface LoadingThread {
  /** Rejects with a SnapshotError when the catalogue is refused, the thread dies, or `close` ends it. */
  readonly done: Promise<Loading>;
  /** Frees the memory in the thread, which then ends by itself. After `loaded` only. */
  free(memory: readonly ArrayBuffer[]): void;
  /** Ends the thread; resolves when it no longer uses the descriptor. */
  close(): Promise<void>;
}

const UNAVAILABLE: LoadingThread = {
  done: Promise.resolve({ kind: 'unavailable' }),
  free: () => {},
  close: async () => {},
};

/** @param entry another program for the thread, for tests */
export function startLoading(task: LoadingTask, name: string, entry: URL = ENTRY): LoadingThread {
  // Deno gives each thread descriptors of its own.
  if ('Deno' in globalThis) return UNAVAILABLE;
  let worker: Worker;
  try {
    worker = startThread(entry, { workerData: task });
  } catch {
    return UNAVAILABLE;
  }
  let isStarted = false;
  const done = new Promise<Loading>((resolve, reject) => {
    worker.on('message', (message: LoadingMessage) => {
      if (message.kind === 'started') isStarted = true;
      else if (message.kind === 'loaded') resolve(message);
      else reject(new (message.isDamaged ? DamagedSnapshotError : SnapshotError)(message.message));
    });
    onThreadEnd(worker, 'the thread that loads it', (why) => {
      if (isStarted) reject(new SnapshotError(`${name}: ${why}`));
      else resolve({ kind: 'unavailable' });
    });
  });
  return {
    done,
    free: (memory) => worker.postMessage(memory, [...memory]),
    async close() {
      await worker.terminate();
    },
  };
}
