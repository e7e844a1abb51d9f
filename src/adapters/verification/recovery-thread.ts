/**
 * Recoveries on a worker thread, so that no recovery blocks the event loop that answers. The jobs of one turn share one
 * message. A thread that dies or does not start is replaced after a pause; its unfinished jobs end with `undefined`.
 */
import type { Worker } from 'node:worker_threads';
import { firstLineOf } from '../../base/failure.ts';
import { startReadyThread } from '../../base/start-thread.ts';
import type { Timers } from '../../base/timers.ts';
import { OUTCOME_BYTES, outcomeAt } from '../../payment/signature/outcome-bytes.ts';
import type { RecoveryJob, RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { Recovered } from '../../payment/signature/signature.ts';
import { encodeJobs, type ThreadOptions, type ThreadReady } from './recovery-wire.ts';

/** Work queued at the thread: just enough to keep it busy during a slow turn of the main thread. */
const AHEAD_MS = 5;
const AHEAD_COUNT_MIN = 2;
const AHEAD_COUNT_MAX = 32;
/** Before another thread is started; doubled after each that recovered nothing. */
const FIRST_PAUSE_MS = 1000;
const PAUSE_MS_MAX = 30_000;

const ENTRY = new URL('./recovery-worker.ts', import.meta.url);

export interface ThreadPorts {
  readonly timers: Timers;
  /** Called when the thread is ready, has died or did not start. */
  onChange(): void;
  /** Another program for the thread, for tests. */
  readonly entry?: URL | undefined;
}

interface Job {
  readonly job: RecoveryJob;
  readonly done: (recovered: Recovered | undefined) => void;
}

export class RecoveryThread implements RecoveryWorker {
  readonly #options: ThreadOptions;
  readonly #ports: ThreadPorts;
  readonly #tried = Promise.withResolvers<void>();
  /** Set from its start until it has ended. */
  #worker: Worker | undefined;
  #cancelStart = (): void => {};
  #pauseMs = FIRST_PAUSE_MS;
  #ready: ThreadReady | undefined;
  #fault: string | undefined;
  /** Jobs that the thread may have at a time; 0 while there is no thread. */
  #aheadCount = 0;
  /** Accepted in this turn, not yet sent. */
  #taken: Job[] = [];
  /** In the order of their outcomes. */
  #sent: Job[] = [];
  #isClosed = false;

  /** Starts nothing yet. */
  constructor(options: ThreadOptions, ports: ThreadPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** Starts the thread, once. Resolves when it is ready or has failed to start. Never settles if closed first. */
  open(): Promise<void> {
    if (!this.#isClosed) this.#startWorker();
    return this.#tried.promise;
  }

  /** What the thread said when it was last ready; undefined until the first has started. */
  get ready(): ThreadReady | undefined {
    return this.#ready;
  }

  /** Why there is no thread, one line; undefined while there is one, or while the first one starts. */
  get fault(): string | undefined {
    return this.#fault;
  }

  isHealthy(): boolean {
    return this.#aheadCount > 0;
  }

  recoveryMs(): number {
    return this.#ready?.recoveryMs ?? 0;
  }

  freeCount(): number {
    return Math.max(0, this.#aheadCount - this.#taken.length - this.#sent.length);
  }

  start(job: RecoveryJob, done: (recovered: Recovered | undefined) => void): void {
    // Sends after the I/O of the turn, so that all requests read in this turn share one message.
    if (this.#taken.length === 0) setImmediate(() => this.#send());
    this.#taken.push({ job, done });
    if (this.#taken.length + this.#sent.length === 1) this.#worker?.ref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelStart();
    this.#aheadCount = 0;
    await this.#worker?.terminate();
    this.#giveUp();
  }

  #startWorker(): void {
    const { timers, entry = ENTRY } = this.#ports;
    try {
      this.#worker = startReadyThread<ThreadReady, Uint8Array>(
        entry,
        { workerData: this.#options },
        'a verification thread',
        timers,
        {
          onReady: (ready) => this.#onReady(ready),
          onMessage: (outcomes) => this.#onOutcomes(outcomes),
          onEnd: (why) => this.#onEnd(why),
        },
      );
    } catch (failure) {
      this.#onEnd(firstLineOf(failure));
    }
  }

  #onReady(ready: ThreadReady): void {
    if (this.#isClosed) return;
    this.#ready = ready;
    this.#fault = undefined;
    const ahead = Math.round(AHEAD_MS / ready.recoveryMs);
    this.#aheadCount = Math.max(AHEAD_COUNT_MIN, Math.min(AHEAD_COUNT_MAX, ahead));
    this.#worker?.unref();
    this.#tellChange();
  }

  #onEnd(why: string): void {
    if (this.#isClosed) return;
    this.#aheadCount = 0;
    this.#fault = why;
    this.#giveUp();
    this.#tellChange();
    void this.#startAnother();
  }

  /** Waits first until the last thread has ended, however long that takes, so that there are never two. */
  async #startAnother(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
    if (this.#isClosed) return;
    this.#cancelStart = this.#ports.timers.after(this.#pauseMs, () => this.#startWorker());
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
  }

  #tellChange(): void {
    this.#ports.onChange();
    this.#tried.resolve();
  }

  #send(): void {
    if (this.#taken.length === 0) return;
    const jobs = this.#taken;
    this.#taken = [];
    this.#sent.push(...jobs);
    this.#worker?.postMessage(encodeJobs(jobs.map(({ job }) => job)));
  }

  #onOutcomes(outcomes: Uint8Array): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    const count = outcomes.length / OUTCOME_BYTES;
    const finished = this.#sent.splice(0, count);
    if (this.#taken.length + this.#sent.length === 0) this.#worker?.unref();
    for (const [i, { done }] of finished.entries()) done(outcomeAt(outcomes, i * OUTCOME_BYTES));
  }

  #giveUp(): void {
    const undone = [...this.#sent, ...this.#taken];
    this.#sent = [];
    this.#taken = [];
    for (const { done } of undone) done(undefined);
  }
}
