/** Where signatures are recovered, as the configuration says: on threads of their own, or on the main thread. */

import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { RecoveryQueue, type RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import { checkedRecovery } from '../../payment/signature/signature.ts';
import { chooseRecovery } from './recovery.ts';
import { inlineRecovery } from './recovery-inline.ts';
import { RecoveryThread } from './recovery-thread.ts';

export interface OpenVerification {
  readonly queue: RecoveryQueue;
  readonly library: 'wasm' | 'noble' | 'handed-in';
  /** 0: on the main thread. */
  readonly threadCount: number;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  /** Never rejects. */
  close(): Promise<void>;
}

/** The settings that verification is opened with. */
export interface VerificationConfig {
  readonly signatures: 'auto' | 'noble';
  /** Threads; 0: the main thread verifies. */
  readonly workers: number;
}

export interface VerificationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Instead of what is configured. */
  readonly recoveryWorker?: RecoveryWorker | undefined;
  /** A thread died (why, one line) or works again (undefined). */
  readonly onFault: (fault: string | undefined) => void;
}

async function onMainThread(
  { signatures }: VerificationConfig,
  { clock, timers }: VerificationPorts,
  why: readonly string[],
): Promise<OpenVerification> {
  const { library, publicKeyOf, recoveryMs, notice } = await chooseRecovery(signatures, clock);
  const place = inlineRecovery(checkedRecovery(publicKeyOf), recoveryMs, setImmediate);
  const queue = new RecoveryQueue([place], clock, timers);
  const notices = notice === undefined ? why : [...why, notice];
  return { queue, library, threadCount: 0, notices, close: async () => queue.close() };
}

export async function openVerification(
  config: VerificationConfig,
  ports: VerificationPorts,
): Promise<OpenVerification> {
  const { clock, timers, recoveryWorker } = ports;
  if (recoveryWorker !== undefined) {
    const handedIn = new RecoveryQueue([recoveryWorker], clock, timers);
    return { queue: handedIn, library: 'handed-in', threadCount: 0, notices: [], close: async () => handedIn.close() };
  }
  if (config.workers === 0) return onMainThread(config, ports, []);
  let queue: RecoveryQueue | undefined;
  const onFault = (fault: string | undefined): void => {
    ports.onFault(fault);
    queue?.resume();
  };
  const starting = Array.from({ length: config.workers }, () =>
    RecoveryThread.start({ signatures: config.signatures }, { timers, onFault }),
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
    const reason = failed?.reason instanceof Error ? failed.reason.message : String(failed?.reason);
    return onMainThread(config, ports, [`signatures are verified on the main thread: ${reason}`]);
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
