/** A place for recoveries that is done as soon as whoever asked has let go: no thread and no turn of the loop. */
import type { RecoveryPlace } from '../../src/payment/recovery-queue.ts';
import { type Recover, recoverWithNoble } from '../../src/payment/signature.ts';

export const promptPlace = (recover: Recover = recoverWithNoble): RecoveryPlace => ({
  freeCount: () => 1,
  isInOrder: () => true,
  start: ({ digest, signature }, done) => queueMicrotask(() => done(recover(digest, signature))),
});
