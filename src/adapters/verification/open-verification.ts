/**
 * Opens signature recovery on worker threads with the main thread beside them. Each thread is used while it runs, and
 * replaced when it dies or does not start; while none runs, the main thread stands in, at the first start after a
 * moment. The queue accepts requests at once; libraries are loaded and self-tested in the background, so that a server
 * can listen and make offers meanwhile.
 */
import type { Clock } from '../../base/clock.ts';
import { LATE_START_MS } from '../../base/late-start.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { expectDescriptors } from '../../base/start-thread.ts';
import type { Timers } from '../../base/timers.ts';
import { RecoveryQueue, type RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { ChosenRecovery, RecoveryLibrary, SignatureMode } from './recovery.ts';
import { inlineRecovery } from './recovery-inline.ts';
import { lateMainWorker, mainWorker } from './recovery-main.ts';
import { StandIn } from './recovery-stand-in.ts';
import { RecoveryThread } from './recovery-thread.ts';

export interface VerificationOptions {
  readonly signatures: SignatureMode;
  /** Worker threads; 0 = the main thread. */
  readonly workers: number;
}

/** What recovers signatures. */
export interface StartedVerification {
  readonly library: RecoveryLibrary | 'handed-in';
  /** Threads that run; 0: the main thread verifies. */
  readonly threadCount: number;
  /** Messages for the operator, one line each. */
  readonly notices: readonly string[];
}

export interface OpenVerification {
  /** Its requests wait until the start is done. */
  readonly queue: RecoveryQueue;
  /**
   * Starts once: at once, or else at the first request or after a moment. Resolves when each thread runs or has failed
   * to start, which a notice tells, and something can verify. Never settles if closed first. Never rejects.
   */
  start(isAtOnce: boolean): Promise<StartedVerification>;
  writeMetrics(page: Exposition): void;
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
  /**
   * Threads do not run, or nothing can verify (what and why, one line), or all is well again (undefined).
   * @param isOutOfOrder whether nothing can verify, so that the server accepts no payments
   */
  onVerificationFault?(fault: string | undefined, isOutOfOrder: boolean): void;
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

/** When no thread has started by then, the main thread stands in: requests need not wait until their start has failed. */
const LATE_THREADS_MS = 3000;
/** Least pause between two reports, because all threads may die at one moment and come back one by one. */
const REPORT_PAUSE_MS = 1000;

interface MainThread {
  readonly chosen: ChosenRecovery;
  readonly inline: RecoveryWorker;
}

/** @returns loads what recovers on this thread, once; a call after one that failed tries again */
function mainThreadOnce(signatures: SignatureMode, clock: Clock): () => Promise<MainThread> {
  let loading: Promise<MainThread> | undefined;
  const load = async (): Promise<MainThread> => {
    const chosen = await chosenHere(signatures, clock);
    return { chosen, inline: inlineRecovery(chosen.recoverSigner, chosen.recoveryMs, setImmediate) };
  };
  return async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (failure) {
      loading = undefined;
      throw failure;
    }
  };
}

function areAllFailed(threads: readonly RecoveryThread[]): boolean {
  return threads.every(({ fault }) => fault !== undefined);
}

/** What is not as configured, for the operator; undefined when all is well. */
function faultOf(threads: readonly RecoveryThread[], standIn: StandIn): string | undefined {
  const failed = threads.filter(({ fault }) => fault !== undefined);
  if (failed.length === threads.length && standIn.fault !== undefined)
    return `the server accepts no payments: ${standIn.fault}`;
  const [first] = failed;
  if (first === undefined) return undefined;
  const what =
    failed.length === threads.length
      ? 'signatures are verified on the main thread'
      : `${failed.length} of ${threads.length} verification threads failed`;
  return `${what}: ${first.fault}`;
}

/** @returns `update` reports the fault if it is another than was last reported, and not within the pause after that */
function faultReports(
  threads: readonly RecoveryThread[],
  standIn: StandIn,
  timers: Timers,
  report: (fault: string | undefined) => void,
) {
  let reported: string | undefined;
  let cancelPause: (() => void) | undefined;
  const update = (): void => {
    if (cancelPause !== undefined) return;
    if (areAllFailed(threads) && !standIn.isReady && standIn.fault === undefined) return; // what it is comes out soon
    const fault = faultOf(threads, standIn);
    if (fault === reported) return;
    reported = fault;
    cancelPause = timers.after(REPORT_PAUSE_MS, () => {
      cancelPause = undefined;
      update();
    });
    report(fault);
  };
  return { update, close: () => cancelPause?.() };
}

function writeThreads(page: Exposition, threads: readonly RecoveryThread[]): void {
  const running = threads.filter((thread) => thread.isHealthy()).length;
  page
    .single('paygrade_verification_threads', 'gauge', 'Threads that verify signatures.', running)
    .single('paygrade_verification_threads_configured', 'gauge', 'Threads that should, see WORKERS.', threads.length);
}

/** Starts nothing yet. */
export function openVerification(options: VerificationOptions, ports: VerificationPorts): OpenVerification {
  const { clock, timers, recoveryWorker } = ports;
  if (recoveryWorker !== undefined) {
    const queue = new RecoveryQueue([recoveryWorker], clock, timers);
    const started: StartedVerification = { library: 'handed-in', threadCount: 0, notices: [] };
    const writeMetrics = (page: Exposition): void => writeThreads(page, []);
    return { queue, start: async () => started, writeMetrics, close: async () => queue.close() };
  }
  const needed = Promise.withResolvers<void>();
  const queue = new RecoveryQueue(undefined, clock, timers, needed.resolve);
  const loadMainThread = mainThreadOnce(options.signatures, clock);
  const besideThreads = lateMainWorker(async () => {
    const { chosen, inline } = await loadMainThread();
    return chosen.isWithoutNoble() ? mainWorker(inline, chosen.isWithoutNoble, setImmediate) : undefined;
  });
  let starting: Promise<StartedVerification> | undefined;
  let isClosed = false;
  let areThreadsLate = false;
  let cancelLate = (): void => {};
  const onChange = (): void => {
    if (isClosed) return;
    const isAllFailed = areAllFailed(threads);
    const running = threads.filter((thread) => thread.isHealthy());
    if (isAllFailed || (areThreadsLate && running.length === 0)) void standIn.load();
    if (isAllFailed || running.length > 0 || standIn.isReady) queue.use([...threads, standIn]);
    if (running.some(({ ready }) => ready?.library !== 'noble')) queue.useMain(besideThreads);
    reports.update();
  };
  const threads = Array.from(
    { length: options.workers },
    () => new RecoveryThread({ signatures: options.signatures }, { timers, onChange, entry: ports.threadEntry }),
  );
  const standIn = new StandIn({
    timers,
    isNeeded: () => threads.every((thread) => !thread.isHealthy()),
    load: async () => (await loadMainThread()).inline,
    onChange,
  });
  const reports = faultReports(threads, standIn, timers, (fault) =>
    ports.onVerificationFault?.(fault, queue.isOutOfOrder()),
  );
  const start = async (isAtOnce: boolean): Promise<StartedVerification> => {
    if (isAtOnce) needed.resolve();
    const cancel = timers.after(LATE_START_MS, needed.resolve);
    await needed.promise;
    cancel();
    if (isClosed) return new Promise(() => {});
    cancelLate = timers.after(LATE_THREADS_MS, () => {
      areThreadsLate = true;
      onChange();
    });
    await Promise.all(threads.map((thread) => thread.open()));
    cancelLate();
    const running = () => threads.filter((thread) => thread.isHealthy());
    if (running().length === 0) await standIn.load();
    const { library, notice } = running()[0]?.ready ?? (await loadMainThread()).chosen;
    const notices = [faultOf(threads, standIn), notice].filter((one) => one !== undefined);
    return { library, threadCount: running().length, notices };
  };
  return {
    queue,
    start(isAtOnce) {
      starting ??= start(isAtOnce);
      return starting;
    },
    writeMetrics: (page) => writeThreads(page, threads),
    async close() {
      isClosed = true;
      queue.close();
      needed.resolve();
      cancelLate();
      reports.close();
      standIn.close();
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
