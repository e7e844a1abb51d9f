/** Work on many bodies at a time in pieces, so that any number of them delays whatever else the loop has to do by no more than a few. */
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  /** Of the queue's networks: who takes turns with others as one. */
  readonly network: string;
  readonly run: () => void;
}

/** Runs what waits, some each turn of the loop. Shares go round, one run each; within a share the first to come is the first. */
export class Turns {
  readonly #perTurn: number;
  readonly #soon: (run: () => void) => void;
  readonly #waiting = new FairQueue<Waiting>();
  #isScheduled = false;

  /**
   * @param perTurn how many run in one turn
   * @param soon calls `run` after the I/O of this turn
   */
  constructor(perTurn: number, soon: (run: () => void) => void = setImmediate) {
    this.#perTurn = perTurn;
    this.#soon = soon;
  }

  /** Resolves in a turn in which no more than `perTurn` do. */
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
