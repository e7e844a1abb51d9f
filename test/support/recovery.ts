/** A place for recoveries that is done as soon as whoever asked has let go: no thread and no turn of the loop. */
import { inlineRecovery } from '../../src/adapters/recovery-inline.ts';
import type { RecoveryPlace } from '../../src/payment/recovery-queue.ts';
import { type Recover, recoverWithNoble } from '../../src/payment/signature.ts';

export const promptPlace = (recover: Recover = recoverWithNoble): RecoveryPlace =>
  inlineRecovery(recover, 0, queueMicrotask);
