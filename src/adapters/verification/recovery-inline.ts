/**
 * Recoveries on the main thread, one a turn of the loop (`later` = setImmediate): whatever else has arrived is answered
 * before the next one. For machines with one core and hosts without threads; the loop is held for one recovery at a time.
 */

import { digestOf } from '../../payment/protocol/typed-data.ts';
import type { RecoveryWorker } from '../../payment/signature/recovery-queue.ts';
import type { Recover } from '../../payment/signature/signature.ts';

/** @param recoveryMs what one takes, about; @param later runs what it is given, not at once */
export function inlineRecovery(recover: Recover, recoveryMs: number, later: (run: () => void) => void): RecoveryWorker {
  let isBusy = false;
  return {
    freeCount: () => (isBusy ? 0 : 1),
    isHealthy: () => true,
    recoveryMs: () => recoveryMs,
    start({ struct, signature }, done) {
      isBusy = true;
      later(() => {
        const recovered = recover(digestOf(struct), signature);
        isBusy = false;
        done(recovered);
      });
    },
  };
}
