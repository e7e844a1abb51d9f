/** Workers that recover in a microtask of the caller's turn: no thread and no turn of the loop. */
import { inlineRecovery } from '../../src/adapters/verification/recovery-inline.ts';
import { digestOf } from '../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../src/payment/signature/noble-recovery.ts';
import type { RecoveryWorker } from '../../src/payment/signature/recovery-queue.ts';
import type { Recover } from '../../src/payment/signature/signature.ts';

export const promptWorker = (recover: Recover = recoverWithNoble): RecoveryWorker =>
  inlineRecovery((struct, signature) => recover(digestOf(struct), signature), 0, queueMicrotask);

/** Returns the payer's address (20 bytes) for every signature, without computing anything. */
export const trustingWorker = (payer: Uint8Array): RecoveryWorker => ({
  freeCount: () => 1,
  isHealthy: () => true,
  recoveryMs: () => 0,
  start: (_, done) => queueMicrotask(() => done({ ok: true, address: payer })),
});
