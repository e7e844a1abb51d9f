/** Opens signature recovery on worker threads, or on the main thread when there are none. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import { RecoveryQueue, type RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import { checkedRecovery } from '../../payment/signature/signature.ts';
import type { RecoveryLibrary, SignatureMode } from './recovery.ts';
import { inlineRecovery } from './recovery-inline.ts';
import { RecoveryThread } from './recovery-thread.ts';

export interface VerificationOptions {
  readonly signatures: SignatureMode;
  /** Worker threads; 0 = the main thread. */
  readonly workers: number;
}

export interface OpenVerification {
  readonly queue: RecoveryQueue;
  readonly library: RecoveryLibrary | 'handed-in';
  /** 0: on the main thread. */
  readonly threadCount: number;
  /** Messages for the operator at start. */
  readonly notices: readonly string[];
  /** Never rejects. */
  close(): Promise<void>;
}

export interface VerificationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Replaces what the options ask for. */
  readonly recoveryWorker?: RecoveryWorker | undefined;
  /** Called when a thread died (the reason, one line) or works again (undefined). */
  readonly onFault: (fault: string | undefined) => void;
}

async function onMainThread(
  { signatures }: VerificationOptions,
  { clock, timers }: VerificationPorts,
  why: readonly string[],
): Promise<OpenVerification> {
  const { chooseRecovery } = await import('./recovery.ts'); // a start with threads does not load the libraries here
  const { library, publicKeyOf, recoveryMs, notice } = await chooseRecovery(signatures, clock);
  const worker = inlineRecovery(checkedRecovery(publicKeyOf), recoveryMs, setImmediate);
  const queue = new RecoveryQueue([worker], clock, timers);
  const notices = notice === undefined ? why : [...why, notice];
  return { queue, library, threadCount: 0, notices, close: async () => queue.close() };
}

/** Never rejects: when a thread cannot start, the main thread verifies and a notice says why. */
export async function openVerification(
  options: VerificationOptions,
  ports: VerificationPorts,
): Promise<OpenVerification> {
  const { clock, timers, recoveryWorker } = ports;
  if (recoveryWorker !== undefined) {
    const handedIn = new RecoveryQueue([recoveryWorker], clock, timers);
    return { queue: handedIn, library: 'handed-in', threadCount: 0, notices: [], close: async () => handedIn.close() };
  }
  if (options.workers === 0) return onMainThread(options, ports, []);
  let queue: RecoveryQueue | undefined;
  const onFault = (fault: string | undefined): void => {
    ports.onFault(fault);
    queue?.resume();
  };
  const starting = Array.from({ length: options.workers }, () =>
    RecoveryThread.start({ signatures: options.signatures }, { timers, onFault }),
  );
  const started = await Promise.allSettled(starting);
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  const closeThreads = async (): Promise<void> => {
    await Promise.all(running.map(({ thread }) => thread.close()));
  };
  const [first] = running;
  if (first === undefined || failed !== undefined) {
    await closeThreads();
    const reason = messageOf(failed?.reason);
    return onMainThread(options, ports, [`signatures are verified on the main thread: ${reason}`]);
  }
  queue = new RecoveryQueue(
    running.map(({ thread }) => thread),
    clock,
    timers,
  );
  const { library, notice } = first.ready;
  const open = queue;
  return {
    queue: open,
    library,
    threadCount: running.length,
    notices: notice === undefined ? [] : [notice],
    async close() {
      open.close();
      await closeThreads();
    },
  };
}
