/** Runs reads of the state file that may take long on a separate thread, which starts with the first of them. */
import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/failure.ts';
import { startThread } from '../../base/start-thread.ts';
import { onThreadEnd } from '../../base/thread-end.ts';
import { foundIn, type QueryResult } from './query-result.ts';
import { StateRefusedError } from './refused.ts';
import type { Query } from './tables/table.ts';

export interface ReaderRequest {
  readonly id: number;
  readonly query: Query;
}

export interface ReaderReply {
  readonly id: number;
  readonly result: QueryResult;
}

/** Answers queries of the tables (a port). */
export interface StateReader {
  /** @throws StateRefusedError, RequestRefusedError by rejecting */
  read(query: Query): Promise<unknown>;
  /** Rejects the reads still waiting. Itself never rejects. */
  close(): Promise<void>;
}

/** Reads that may wait; beyond it new ones are refused, so that they do not pile up in memory. */
const WAITING_COUNT_MAX = 1024;

const READER = new URL('./reader.ts', import.meta.url);

/** @throws StateRefusedError where the system has no room for a thread */
function started(path: string): Worker {
  try {
    return startThread(READER, { workerData: path });
  } catch (failure) {
    throw new StateRefusedError(`the reader of the state does not start: ${messageOf(failure)}`, { cause: failure });
  }
}

export class ReaderThread implements StateReader {
  readonly #path: string;
  readonly #waiting = new Map<number, (result: QueryResult) => void>();
  #worker: Worker | undefined;
  #count = 0;
  #isClosed = false;

  /** @param path of the state file */
  constructor(path: string) {
    this.#path = path;
  }

  async read(query: Query): Promise<unknown> {
    if (this.#isClosed) throw new StateRefusedError('the state is closed');
    if (this.#waiting.size >= WAITING_COUNT_MAX) throw new StateRefusedError('too many reads of the state wait');
    const worker = this.#open();
    const id = ++this.#count;
    const result = new Promise<QueryResult>((resolve) => {
      this.#waiting.set(id, resolve);
      worker.ref();
      worker.postMessage({ id, query } satisfies ReaderRequest);
    });
    return foundIn(await result);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#fail('the state is closed');
    await this.#worker?.terminate();
  }

  #open(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = started(this.#path);
    worker.on('message', ({ id, result }: ReaderReply) => {
      const resolve = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      resolve?.(result);
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
    for (const resolve of waiting) resolve({ kind: 'unreadable', detail: why });
  }
}
