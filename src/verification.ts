/** Where signatures are recovered, as the configuration says: on threads of their own, or on the main thread. */
import { chooseRecovery } from './adapters/recovery.ts';
import { inlineRecovery } from './adapters/recovery-inline.ts';
import { RecoveryThread } from './adapters/recovery-thread.ts';
import type { Clock } from './base/clock.ts';
import type { Timers } from './base/timers.ts';
import type { Config } from './config.ts';
import { type RecoveryPlace, RecoveryQueue } from './payment/recovery-queue.ts';
import { checkedRecovery } from './payment/signature.ts';

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

export interface VerificationPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Instead of what is configured. */
  readonly recoveryPlace?: RecoveryPlace | undefined;
  /** A thread died (why, one line) or works again (undefined). */
  readonly onFault: (fault: string | undefined) => void;
}

async function onMainThread(
  { signatures }: Config,
  { clock, timers }: VerificationPorts,
  why: readonly string[],
): Promise<OpenVerification> {
  const { library, publicKeyOf, recoveryMs, notice } = await chooseRecovery(signatures, clock);
  const place = inlineRecovery(checkedRecovery(publicKeyOf), recoveryMs, setImmediate);
  const queue = new RecoveryQueue([place], clock, timers);
  const notices = notice === undefined ? why : [...why, notice];
  return { queue, library, threadCount: 0, notices, close: async () => queue.close() };
}

export async function openVerification(config: Config, ports: VerificationPorts): Promise<OpenVerification> {
  const { clock, timers, recoveryPlace } = ports;
  if (recoveryPlace !== undefined) {
    const handedIn = new RecoveryQueue([recoveryPlace], clock, timers);
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
