/** Where signatures are recovered, as the configuration says: on threads of their own, or on the main thread. */
import { chooseRecovery } from './adapters/recovery.ts';
import { inlineRecovery } from './adapters/recovery-inline.ts';
import { RecoveryThread } from './adapters/recovery-thread.ts';
import { systemTimers } from './adapters/system-timers.ts';
import type { Clock } from './base/clock.ts';
import type { Config } from './config.ts';
import { RecoveryQueue } from './payment/recovery-queue.ts';
import { checkedRecovery } from './payment/signature.ts';

export interface OpenVerification {
  readonly queue: RecoveryQueue;
  readonly library: 'wasm' | 'noble';
  /** 0: on the main thread. */
  readonly threadCount: number;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  /** Never rejects. */
  close(): Promise<void>;
}

export interface VerificationPorts {
  readonly clock: Clock;
  /** A thread died (why, one line) or works again (undefined). */
  readonly onFault: (fault: string | undefined) => void;
}

async function onMainThread({ signatures }: Config, clock: Clock, why: readonly string[]): Promise<OpenVerification> {
  const { library, publicKeyOf, notice } = await chooseRecovery(signatures, clock);
  const queue = new RecoveryQueue([inlineRecovery(checkedRecovery(publicKeyOf))], clock);
  return {
    queue,
    library,
    threadCount: 0,
    notices: notice === undefined ? why : [...why, notice],
    close: async () => queue.close(),
  };
}

export async function openVerification(
  config: Config,
  { clock, onFault }: VerificationPorts,
): Promise<OpenVerification> {
  if (config.workers === 0) return onMainThread(config, clock, []);
  let queue: RecoveryQueue | undefined;
  const ports = {
    timers: systemTimers,
    onFault(fault: string | undefined): void {
      onFault(fault);
      queue?.resume();
    },
  };
  const starting = Array.from({ length: config.workers }, () =>
    RecoveryThread.start({ signatures: config.signatures }, ports),
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
    return onMainThread(config, clock, [`signatures are verified on the main thread: ${reason}`]);
  }
  queue = new RecoveryQueue(
    running.map(({ thread }) => thread),
    clock,
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
