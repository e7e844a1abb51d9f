/** Runs reads of the state file that may take long on a separate thread, which starts with the first of them. */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../base/start-thread.ts';
import { onThreadEnd } from '../../base/thread-end.ts';
import type { Query } from './tables/table.ts';

export interface ReaderRequest {
  readonly id: number;
  readonly query: Query;
}

export interface ReaderReply {
  readonly id: number;
  readonly found: unknown;
  /** Why the query failed; undefined = it succeeded. */
  readonly fault?: string;
}

/** Answers queries of the tables (a port). */
export interface StateReader {
  /** @throws Error by rejecting */
  read(query: Query): Promise<unknown>;
  /** Rejects the reads still waiting. Itself never rejects. */
  close(): Promise<void>;
}

/** Reads that may wait; beyond it new ones are refused, so that they do not pile up in memory. */
const WAITING_COUNT_MAX = 1024;

const READER = new URL('./reader.ts', import.meta.url);

interface Waiting {
  readonly resolve: (found: unknown) => void;
  readonly reject: (failure: Error) => void;
}

export class ReaderThread implements StateReader {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #count = 0;
  #isClosed = false;

  /** @param path of the state file */
  constructor(path: string) {
    this.#path = path;
  }

  async read(query: Query): Promise<unknown> {
    if (this.#isClosed) throw new Error('the state is closed');
    if (this.#waiting.size >= WAITING_COUNT_MAX) throw new Error('too many reads of the state wait');
    const worker = this.#open();
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, query } satisfies ReaderRequest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#fail('the state is closed');
    await this.#worker?.terminate();
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = startThread(READER, { workerData: this.#path });
    worker.on('message', ({ id, found, fault }: ReaderReply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (fault === undefined) waiting?.resolve(found);
      else waiting?.reject(new Error(fault));
    });
    onThreadEnd(worker, 'the reader of the state', (why) => {
      this.#worker = undefined;
      this.#fail(why);
    });
    this.#worker = worker;
    return worker;
  }

  #fail(why: string): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error(why));
  }
}
