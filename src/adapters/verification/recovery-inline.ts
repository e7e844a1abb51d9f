/**
 * Recoveries on the main thread, one per turn of the event loop (`later` = setImmediate), so that the server handles
 * other input in between. For machines with one core and hosts without threads. One recovery blocks the loop at a time.
 */
import type { RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { RecoverSigner } from './recovery.ts';

/** @param recoveryMs approximate duration of one recovery @param later runs its argument after the current turn */
export function inlineRecovery(
  recoverSigner: RecoverSigner,
  recoveryMs: number,
  later: (run: () => void) => void,
): RecoveryWorker {
  let isBusy = false;
  return {
    freeCount: () => (isBusy ? 0 : 1),
    isHealthy: () => true,
    recoveryMs: () => recoveryMs,
    start({ struct, signature }, done) {
      isBusy = true;
      later(() => {
        const recovered = recoverSigner(struct, signature);
        isBusy = false;
        done(recovered);
      });
    },
  };
}
