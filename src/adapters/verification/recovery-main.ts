/**
 * The main thread beside recovery threads. Passing one signature to a thread and back costs more than recovering it;
 * with many at a time it costs almost nothing. So the main thread recovers signatures that arrive one by one. The
 * threads take over while signatures arrive together, as when many clients pay at once, or faster than the main thread
 * can recover them. The main thread recovers one signature a turn, and never by noble, which takes a millisecond
 * (`bench/flood.ts`, `bench/signatures.ts`).
 */
import type { MainWorker, RecoveryWorker } from '../../payment/signature/recovery-queue.ts';

/**
 * The main thread recovers up to this mean number of signatures before one in its turn: 1.5 means four in each turn.
 */
const BEFORE_MAX = 1.5;
/**
 * Weight of the latest signature in the mean: small, so that one delayed turn, in a flood that arrives one by one,
 * wakes no thread.
 */
const WEIGHT = 1 / 64;
/**
 * More signatures before one count as this many, so that a burst is forgotten after some hundred that arrive one by one.
 */
const BEFORE_COUNTED_MAX = 8;
/** After recoveries in this many turns in a row the main thread cannot keep up, however few arrive in each turn. */
const ON_END_MAX = 16;

/**
 * @param inline recovers on the main thread
 * @param isWithoutNoble whether noble recovers nothing there
 * @param later runs its argument after the I/O of this turn
 */
export function mainWorker(
  inline: RecoveryWorker,
  isWithoutNoble: () => boolean,
  later: (run: () => void) => void,
): MainWorker {
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
 * The same, but loaded at the first request, so that a server without payments holds no library on its main thread. The
 * threads recover while it is not loaded.
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
      // No file descriptor was free: the next request tries again.
      isAskedFor = false;
    }
  };
  return {
    onRequest() {
      if (!isAskedFor) void loadMain();
      main?.onRequest();
    },
    isInCharge: () => main?.isInCharge() ?? false,
    freeCount: () => main?.freeCount() ?? 0,
    start(job, done) {
      main?.start(job, done);
    },
  };
}
