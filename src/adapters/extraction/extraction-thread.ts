/**
 * One extraction thread. It starts with its first document and is terminated when a document uses too much of the
 * thread's processor time, so that a page is not blamed for a busy machine; the next document, which must come after the
 * end of that one, starts another thread. An idle thread does not keep the process alive.
 */
import type { Worker } from 'node:worker_threads';
import { firstLineOf } from '../../base/failure.ts';
import { startReadyThread, THREAD_START_MS } from '../../base/start-thread.ts';
import type { Timers } from '../../base/timers.ts';
import type { PageContent } from '../../resolve/result.ts';
import type { Document, Measured } from '../../resolve/work.ts';
import { threadTimeMs } from '../process/thread-time.ts';
import type { ThreadReady, ThreadReply, ThreadTask } from './extraction-wire.ts';

const ENTRY = new URL('./extraction-worker.ts', import.meta.url);

/**
 * Heap of a thread, MiB: ten times what 8 MiB of the most costly markup takes. Runtimes without such a bound ignore it.
 */
const HEAP_MIB_MAX = 512;

const STOPS = 'the server stops';

/** Shortest pause between two looks at a thread's processor time, which is known in steps of 10 ms. */
const LOOK_PAUSE_MS = 20;

export type ThreadEnd =
  | { readonly kind: 'content'; readonly content: PageContent }
  | { readonly kind: 'late' | 'too-large' | 'broken' }
  /** `detail`: one line, or the stack of what the extraction threw. */
  | { readonly kind: 'failed'; readonly detail: string };

export interface ReadingTime {
  /** Processor time of the thread after it has unpacked the document; wall time where processor time is not known. */
  readonly workMs: number;
  /** Time left for the content when the thread gets the document. Its measurements are still awaited after that. */
  leftMs(): number;
  /** Time for any reply at all, from that moment on. */
  readonly wallMs: number;
}

export interface ExtractionThreadOptions {
  /** Another program for the thread, for tests. */
  readonly entry?: URL | undefined;
  /** `threadTimeMs`, or a test's. */
  readonly timeOf?: typeof threadTimeMs | undefined;
}

export interface Finished {
  readonly end: ThreadEnd;
  /** undefined: the thread ended before measuring, or the document cannot be unpacked. */
  readonly measured: Measured | undefined;
}

export class ExtractionThread {
  readonly #timers: Timers;
  readonly #entry: URL;
  readonly #timeOf: typeof threadTimeMs;
  #worker: Worker | undefined;
  /** The system's number of the worker thread. */
  #number: number | undefined;
  #starting: Promise<Worker> | undefined;
  /** Set from a thread's termination until it has ended. */
  #ending: Promise<void> | undefined;
  #cancelSlowEnd = (): void => {};
  #isClosed = false;
  /** Ends the document that is being read. */
  #onReply: ((message: ThreadReply) => void) | undefined;
  #onDeath: ((why: string) => void) | undefined;

  constructor(timers: Timers, { entry = ENTRY, timeOf = threadTimeMs }: ExtractionThreadOptions = {}) {
    this.#timers = timers;
    this.#entry = entry;
    this.#timeOf = timeOf;
  }

  /** One document at a time, and none before {@link ended}. Never rejects. */
  async read(document: Document, { leftMs: leftMsNow, wallMs, workMs }: ReadingTime): Promise<Finished> {
    let worker: Worker;
    try {
      this.#starting ??= this.#start();
      worker = await this.#starting;
    } catch (failure) {
      this.#starting = undefined;
      return { end: { kind: 'failed', detail: firstLineOf(failure) }, measured: undefined };
    }
    // Closed meanwhile: the thread, which was ready just before, ends and answers nothing.
    if (this.#worker !== worker) return { end: { kind: 'failed', detail: STOPS }, measured: undefined };
    const leftMs = Math.max(0, leftMsNow());
    const isLate = leftMs === 0;
    let measured: Measured | undefined;
    const end = await new Promise<ThreadEnd>((resolve) => {
      const giveUp = (): void => {
        this.#drop();
        finish({ kind: 'late' });
      };
      const stopWall = this.#timers.after(wallMs, giveUp);
      let isOver = false;
      const stopLeft = this.#timers.after(leftMs, () => {
        isOver = true;
        if (measured !== undefined) giveUp();
      });
      let stopWork = (): void => {};
      const finish = (found: ThreadEnd): void => {
        stopWall();
        stopLeft();
        stopWork();
        resolve(found);
      };
      this.#onReply = (message) => {
        if (message.kind === 'measured') {
          const { sha256, sizeBytes } = message;
          measured = { sha256, sizeBytes };
          if (isLate) finish({ kind: 'late' });
          else if (isOver) giveUp();
          else stopWork = this.#afterWork(workMs, giveUp);
        } else finish(message);
      };
      this.#onDeath = (detail) => finish({ kind: 'failed', detail });
      worker.ref();
      worker.postMessage({ document, isLate } satisfies ThreadTask, [document.body.buffer]);
    });
    this.#onReply = undefined;
    this.#onDeath = undefined;
    this.#worker?.unref();
    return { end, measured };
  }

  /**
   * Resolves when a thread that the last document had terminated has ended, which native code may delay; at once if there
   * is none.
   * @param onSlow called when that takes longer than {@link THREAD_START_MS}, unless the server stops
   */
  async ended(onSlow: () => void): Promise<void> {
    if (this.#ending === undefined || this.#isClosed) return;
    this.#cancelSlowEnd = this.#timers.after(THREAD_START_MS, onSlow);
    await this.#ending;
    this.#cancelSlowEnd();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#isClosed = true;
    this.#cancelSlowEnd();
    this.#onDeath?.(STOPS);
    this.#drop();
    await worker?.terminate();
  }

  /** Calls `run` when the thread has worked for `workMs` from now. @returns cancels the call */
  #afterWork(workMs: number, run: () => void): () => void {
    const startMs = this.#timeOf(this.#number);
    let stop = (): void => {};
    const look = (leftMs: number): void => {
      stop = this.#timers.after(Math.max(leftMs, LOOK_PAUSE_MS), () => {
        const nowMs = this.#timeOf(this.#number);
        const workedMs = startMs === undefined || nowMs === undefined ? workMs : nowMs - startMs;
        if (workedMs >= workMs) run();
        else look(workMs - workedMs);
      });
    };
    look(workMs);
    return () => stop();
  }

  /** Forgets the thread and ends it. */
  #drop(): void {
    const ending = this.#worker?.terminate();
    this.#worker = undefined;
    this.#starting = undefined;
    if (ending === undefined) return;
    this.#ending = ending.then(() => {
      this.#ending = undefined;
    });
  }

  async #start(): Promise<Worker> {
    if (this.#ending !== undefined) await this.#ending; // it died while it was idle
    if (this.#isClosed) throw new Error(STOPS);
    const options = { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX } };
    return new Promise((resolve, reject) => {
      const worker = startReadyThread<ThreadReady, ThreadReply>(
        this.#entry,
        options,
        'the extraction thread',
        this.#timers,
        {
          onReady: ({ thread }) => {
            this.#number = thread;
            resolve(worker);
          },
          onMessage: (reply) => {
            if (this.#worker === worker) this.#onReply?.(reply);
          },
          onEnd: (why) => {
            reject(new Error(why));
            if (this.#worker !== worker) return;
            this.#drop();
            this.#onDeath?.(why);
          },
        },
      );
      this.#worker = worker;
    });
  }
}
