/**
 * The main thread beside recovery threads. To hand one signature to a thread and take its outcome back costs more than to recover
 * it; with many at a time it costs next to nothing. So the main thread recovers signatures that come one by one, and the
 * threads take over while signatures come together, as when many clients pay at once, and when more come than the main thread
 * recovers. It recovers one a turn of its loop, and nothing that needs noble, which takes a millisecond (`bench/flood.ts`,
 * `bench/signatures.ts`).
 */
import type { MainWorker } from '../../payment/signature/recovery-queue.ts';
import type { ChosenRecovery } from './recovery.ts';
import { inlineRecovery } from './recovery-inline.ts';

/** Mean number of signatures that came before one in its turn, up to which the main thread recovers: four in each turn. */
const BEFORE_MAX = 1.5;
/** Weight of the latest one in the mean: small, so that a delayed turn of a flood that comes one by one does not wake a thread. */
const WEIGHT = 1 / 64;
/** More before one count as these: a burst is over after some hundred that come one by one. */
const BEFORE_COUNTED_MAX = 8;
/** Recoveries in as many turns on end: the main thread does not keep up, however few come in each turn. */
const ON_END_MAX = 16;

/** @param later runs its argument after the I/O of this turn */
export function mainWorker(
  {
    recoverSigner,
    recoveryMs,
    isWithoutNoble,
  }: Pick<ChosenRecovery, 'recoverSigner' | 'recoveryMs' | 'isWithoutNoble'>,
  later: (run: () => void) => void,
): MainWorker {
  const inline = inlineRecovery(recoverSigner, recoveryMs, later);
  let inThisTurn = 0;
  let meanBefore = 0;
  let onEnd = 0;
  return {
    ...inline,
    onRequest() {
      if (inThisTurn === 0)
        later(() => {
          inThisTurn = 0;
        });
      meanBefore += (Math.min(inThisTurn, BEFORE_COUNTED_MAX) - meanBefore) * WEIGHT;
      inThisTurn++;
    },
    isInCharge: () => meanBefore <= BEFORE_MAX && isWithoutNoble(),
    start(job, done) {
      onEnd++;
      if (onEnd >= ON_END_MAX) meanBefore = BEFORE_COUNTED_MAX;
      inline.start(job, (recovered) => {
        done(recovered); // starts the next one, if one waits
        if (inline.freeCount() > 0) onEnd = 0;
      });
    },
  };
}

/**
 * The same, loaded at the first request, so that a server without payments holds no library on its main thread. The threads
 * recover until then, and where it cannot be loaded.
 * @param load undefined: the main thread is to recover nothing
 */
export function lateMainWorker(load: () => Promise<MainWorker | undefined>): MainWorker {
  let main: MainWorker | undefined;
  let isAskedFor = false;
  const loadMain = async (): Promise<void> => {
    isAskedFor = true;
    try {
      main = await load();
    } catch {
      // The threads recover all, as they would without it.
    }
  };
  return {
    onRequest() {
      if (!isAskedFor) void loadMain();
      main?.onRequest();
    },
    isInCharge: () => main?.isInCharge() ?? false,
    freeCount: () => main?.freeCount() ?? 0,
    isHealthy: () => main?.isHealthy() ?? false,
    recoveryMs: () => main?.recoveryMs() ?? 0,
    start(job, done) {
      main?.start(job, done);
    },
  };
}
