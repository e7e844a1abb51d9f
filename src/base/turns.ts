/** Spreads work on many bodies over turns of the loop, so that any number of them delays other work by a few pieces at most. */
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  /** The share: entries of one share take turns with others as one. */
  readonly network: string;
  readonly run: () => void;
}

/** Runs waiting entries, a few in each turn of the loop. Shares take turns; within a share entries run in order of arrival. */
export class Turns {
  readonly #perTurn: number;
  readonly #soon: (run: () => void) => void;
  readonly #waiting = new FairQueue<Waiting>();
  #isScheduled = false;

  /**
   * @param perTurn number of entries that run in one turn
   * @param soon calls `run` after the I/O of this turn
   */
  constructor(perTurn: number, soon: (run: () => void) => void = setImmediate) {
    this.#perTurn = perTurn;
    this.#soon = soon;
  }

  /** Resolves in a turn in which at most `perTurn` such promises do. */
  take(share: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ network: share, run: resolve });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#soon(this.#run);
  }

  readonly #run = (): void => {
    this.#isScheduled = false;
    for (let i = 0; i < this.#perTurn; i++) this.#waiting.next()?.run();
    if (this.#waiting.count > 0) this.#schedule();
  };
}
