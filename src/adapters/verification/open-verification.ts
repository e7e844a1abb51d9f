/**
 * Opens signature recovery on worker threads with the main thread beside them, or on the main thread when there are
 * none. The queue accepts requests at once; libraries are loaded and self-tested in the background, so that a server
 * can listen and make offers meanwhile.
 */
import type { Clock } from '../../base/clock.ts';
import { firstLineOf, messageOf } from '../../base/failure.ts';
import { LATE_START_MS } from '../../base/late-start.ts';
import { expectDescriptors } from '../../base/start-thread.ts';
import type { Timers } from '../../base/timers.ts';
import { type MainWorker, RecoveryQueue, type RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { ChosenRecovery, RecoveryLibrary, SignatureMode } from './recovery.ts';
import { inlineRecovery } from './recovery-inline.ts';
import { lateMainWorker, mainWorker } from './recovery-main.ts';
import { RecoveryThread } from './recovery-thread.ts';

/** Pause before a start that failed is tried again. */
const RETRY_PAUSE_MS = 1000;

export interface VerificationOptions {
  readonly signatures: SignatureMode;
  /** Worker threads; 0 = the main thread. */
  readonly workers: number;
}

/** What recovers signatures. */
export interface StartedVerification {
  readonly library: RecoveryLibrary | 'handed-in';
  /** 0: on the main thread. */
  readonly threadCount: number;
  /** Messages for the operator, one line each. */
  readonly notices: readonly string[];
}

export interface OpenVerification {
  /** Its requests wait until the start is done. */
  readonly queue: RecoveryQueue;
  /**
   * Starts once: at once, or else at the first request or after a moment. Never settles if closed first. Never rejects:
   * when a thread cannot start, the main thread verifies and a notice says why; while that cannot either, because
   * connections have taken all file descriptors, requests are rejected and the start is tried again.
   */
  start(isAtOnce: boolean): Promise<StartedVerification>;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface VerificationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Recovers signatures, in place of the configured threads. */
  readonly recoveryWorker?: RecoveryWorker | undefined;
  /** Another program for the threads, for tests. */
  readonly threadEntry?: URL | undefined;
  /** A verification thread died or nothing can verify yet (why, one line), or it works again (undefined). */
  onVerificationFault?(fault: string | undefined): void;
}

interface StartedWorkers extends StartedVerification {
  /** At least one. */
  readonly workers: readonly RecoveryWorker[];
  /** Those of them that are threads. */
  readonly threads: readonly RecoveryThread[];
}

/**
 * Loads the libraries on this thread; a server's start does not wait for it.
 *
 * @throws Error (rejects) when there are too few file descriptors: Node never tries an import again that failed
 */
async function chosenHere(signatures: SignatureMode, clock: Clock): Promise<ChosenRecovery> {
  expectDescriptors();
  const { chooseRecovery } = await import('./recovery.ts');
  return chooseRecovery(signatures, clock);
}

async function onMainThread(
  { signatures }: VerificationOptions,
  clock: Clock,
  why: readonly string[],
): Promise<StartedWorkers> {
  const chosen = await chosenHere(signatures, clock);
  const notices = chosen.notice === undefined ? why : [...why, chosen.notice];
  return {
    workers: [inlineRecovery(chosen.recoverSigner, chosen.recoveryMs, setImmediate)],
    threads: [],
    library: chosen.library,
    threadCount: 0,
    notices,
  };
}

async function startWorkers(
  options: VerificationOptions,
  { clock, timers, threadEntry: entry }: VerificationPorts,
  onFault: (fault: string | undefined) => void,
): Promise<StartedWorkers> {
  if (options.workers === 0) return onMainThread(options, clock, []);
  const starting = Array.from({ length: options.workers }, () =>
    RecoveryThread.start({ signatures: options.signatures }, { timers, onFault, entry }),
  );
  const started = await Promise.allSettled(starting);
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  const threads = running.map(({ thread }) => thread);
  const [first] = running;
  if (first === undefined || failed !== undefined) {
    await Promise.all(threads.map((thread) => thread.close()));
    return onMainThread(options, clock, [`signatures are verified on the main thread: ${messageOf(failed?.reason)}`]);
  }
  const { library, notice } = first.ready;
  return {
    workers: threads,
    threads,
    library,
    threadCount: threads.length,
    notices: notice === undefined ? [] : [notice],
  };
}

/** Starts nothing yet. */
export function openVerification(options: VerificationOptions, ports: VerificationPorts): OpenVerification {
  const { clock, timers, recoveryWorker } = ports;
  if (recoveryWorker !== undefined) {
    const queue = new RecoveryQueue([recoveryWorker], clock, timers);
    const started: StartedVerification = { library: 'handed-in', threadCount: 0, notices: [] };
    return { queue, start: async () => started, close: async () => queue.close() };
  }
  const needed = Promise.withResolvers<void>();
  const queue = new RecoveryQueue(undefined, clock, timers, needed.resolve);
  const onFault = (fault: string | undefined): void => {
    ports.onVerificationFault?.(fault);
    queue.resume();
  };
  let starting: Promise<StartedWorkers> | undefined;
  let started: Promise<StartedWorkers> | undefined;
  let isClosed = false;
  const mainWorkerHere = async (): Promise<MainWorker | undefined> => {
    const chosen = await chosenHere(options.signatures, clock);
    return chosen.isWithoutNoble() ? mainWorker(chosen, setImmediate) : undefined;
  };
  const startWorkersAtLast = async (): Promise<StartedWorkers> => {
    for (let hasFailed = false; ; hasFailed = true) {
      if (isClosed) return new Promise(() => {});
      started = startWorkers(options, ports, onFault);
      try {
        const all = await started;
        queue.use(all.workers);
        if (hasFailed) ports.onVerificationFault?.(undefined);
        return all;
      } catch (failure) {
        queue.use([]);
        const why = firstLineOf(failure);
        if (!hasFailed) ports.onVerificationFault?.(`it has never started, so the server accepts no payments: ${why}`);
        await new Promise<void>((resolve) => timers.after(RETRY_PAUSE_MS, resolve));
      }
    }
  };
  const start = async (isAtOnce: boolean): Promise<StartedWorkers> => {
    if (isAtOnce) needed.resolve();
    const cancel = timers.after(LATE_START_MS, needed.resolve);
    await needed.promise;
    cancel();
    const all = await startWorkersAtLast();
    if (all.threadCount > 0 && all.library !== 'noble') queue.useMain(lateMainWorker(mainWorkerHere));
    return all;
  };
  return {
    queue,
    start(isAtOnce) {
      starting ??= start(isAtOnce);
      return starting;
    },
    async close() {
      isClosed = true;
      queue.close();
      needed.resolve();
      const { threads = [] } = (await started?.catch(() => undefined)) ?? {};
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
