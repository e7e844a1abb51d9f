/** Places for recoveries that are done as soon as whoever asked has let go: no thread and no turn of the loop. */
import { inlineRecovery } from '../../src/adapters/verification/recovery-inline.ts';
import type { RecoveryWorker } from '../../src/payment/signature/recovery-queue.ts';
import { type Recover, recoverWithNoble } from '../../src/payment/signature/signature.ts';

export const promptPlace = (recover: Recover = recoverWithNoble): RecoveryWorker =>
  inlineRecovery(recover, 0, queueMicrotask);

/** Takes every signature for the given payer's (20 bytes) and computes nothing. */
export const trustingPlace = (payer: Uint8Array): RecoveryWorker => ({
  freeCount: () => 1,
  isHealthy: () => true,
  recoveryMs: () => 0,
  start: (_, done) => queueMicrotask(() => done({ ok: true, address: payer })),
});
