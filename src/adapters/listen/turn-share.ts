/**
 * Answers in turns, for a runtime that runs all requests of a pipeline in one turn of the loop as long as each is answered at
 * once. What comes after the first few of a turn begins in the next one: the runtime closes a connection whose next request
 * arrives meanwhile, which is the end of a pipeline, and a client that sends one request at a time waits for a turn.
 */
import { ANSWERS_PER_TURN_MAX } from './limits.ts';

export class TurnShare {
  /** Requests since the loop last began a turn, as far as {@link isUsedUp} knows. */
  #count = 0;
  #next: Promise<void> | undefined;

  /** Counts a request. Costs an addition; a timer is set for one request of many. */
  isUsedUp(): boolean {
    return ++this.#count > ANSWERS_PER_TURN_MAX;
  }

  /** Resolves in the next turn of the loop, with a share of its own. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#count = 0;
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
