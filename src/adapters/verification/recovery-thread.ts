/**
 * Recoveries on a worker thread, so that no recovery blocks the event loop that answers. The jobs of one turn share one
 * message. A thread that dies is replaced after a pause; its unfinished jobs end with `undefined`.
 */
import type { Worker } from 'node:worker_threads';
import { startThread, THREAD_START_MS } from '../../base/start-thread.ts';
import { onThreadEnd } from '../../base/thread-end.ts';
import type { Timers } from '../../base/timers.ts';
import { OUTCOME_BYTES, outcomeAt } from '../../payment/signature/outcome-bytes.ts';
import type { RecoveryJob, RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { Recovered } from '../../payment/signature/signature.ts';
import { encodeJobs, type ThreadOptions, type ThreadReady } from './recovery-wire.ts';

/** Work queued at the thread: just enough to keep it busy during a slow turn of the main thread. */
const AHEAD_MS = 5;
const AHEAD_COUNT_MIN = 2;
const AHEAD_COUNT_MAX = 32;
const RESTART_PAUSE_MS = 1000;

const ENTRY = new URL('./recovery-worker.ts', import.meta.url);

export interface ThreadPorts {
  readonly timers: Timers;
  /** Called when the thread died (the reason, one line) or works again (undefined); `isHealthy` has changed already. */
  readonly onFault: (fault: string | undefined) => void;
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
  /** Set also while it starts. */
  #worker: Worker | undefined;
  #cancelRestart: (() => void) | undefined;
  /** Jobs that the thread may have at a time; 0 while there is no thread. */
  #aheadCount = 0;
  #recoveryMs = 0;
  /** Accepted in this turn, not yet sent. */
  #taken: Job[] = [];
  /** In the order of their outcomes. */
  #sent: Job[] = [];
  #isClosed = false;

  private constructor(options: ThreadOptions, ports: ThreadPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** @throws Error (rejects) when the thread cannot start, or has not started in time */
  static async start(
    options: ThreadOptions,
    ports: ThreadPorts,
  ): Promise<{ readonly thread: RecoveryThread; readonly ready: ThreadReady }> {
    const thread = new RecoveryThread(options, ports);
    return { thread, ready: await thread.#open() };
  }

  isHealthy(): boolean {
    return this.#aheadCount > 0;
  }

  recoveryMs(): number {
    return this.#recoveryMs;
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
    this.#cancelRestart?.();
    this.#aheadCount = 0;
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#giveUp();
  }

  async #open(): Promise<ThreadReady> {
    const { timers, entry = ENTRY } = this.#ports;
    const worker = startThread(entry, { workerData: this.#options });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      const stop = timers.after(THREAD_START_MS, () => {
        reject(new Error('a verification thread did not start'));
        if (this.#worker === worker) this.#worker = undefined;
        void worker.terminate();
      });
      worker.on('message', (message: ThreadReady | Uint8Array) => {
        if (message instanceof Uint8Array) {
          this.#onOutcomes(message);
          return;
        }
        stop();
        // Closed, or given up.
        if (this.#worker !== worker) return;
        this.#recoveryMs = message.recoveryMs;
        const ahead = Math.round(AHEAD_MS / message.recoveryMs);
        this.#aheadCount = Math.max(AHEAD_COUNT_MIN, Math.min(AHEAD_COUNT_MAX, ahead));
        worker.unref();
        resolve(message);
      });
      onThreadEnd(worker, 'a verification thread', (why) => {
        stop();
        reject(new Error(why));
        if (this.#worker === worker && this.isHealthy()) this.#onDeath(why);
      });
    });
  }

  #send(): void {
    if (this.#taken.length === 0) return;
    const jobs = this.#taken;
    this.#taken = [];
    this.#sent.push(...jobs);
    this.#worker?.postMessage(encodeJobs(jobs.map(({ job }) => job)));
  }

  #onOutcomes(outcomes: Uint8Array): void {
    const count = outcomes.length / OUTCOME_BYTES;
    const finished = this.#sent.splice(0, count);
    if (this.#taken.length + this.#sent.length === 0) this.#worker?.unref();
    for (const [i, { done }] of finished.entries()) done(outcomeAt(outcomes, i * OUTCOME_BYTES));
  }

  #onDeath(why: string): void {
    this.#worker = undefined;
    this.#aheadCount = 0;
    this.#giveUp();
    if (this.#isClosed) return;
    this.#ports.onFault(why);
    this.#restartLater();
  }

  #restartLater(): void {
    this.#cancelRestart = this.#ports.timers.after(RESTART_PAUSE_MS, () => {
      this.#open().then(
        () => this.#ports.onFault(undefined),
        () => {
          if (!this.#isClosed) this.#restartLater();
        },
      );
    });
  }

  #giveUp(): void {
    const undone = [...this.#sent, ...this.#taken];
    this.#sent = [];
    this.#taken = [];
    for (const { done } of undone) done(undefined);
  }
}
