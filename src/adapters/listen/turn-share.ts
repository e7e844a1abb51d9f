/**
 * Answers in turns, for a runtime that runs all requests of a pipeline in one turn of the loop as long as each is answered at
 * once. What comes after the first milliseconds of a turn begins in the next one: the runtime closes a connection whose next
 * request arrives meanwhile, which is the end of a pipeline, and a client that sends one request at a time waits for a turn.
 */
import type { Clock } from '../../base/clock.ts';
import { ANSWERED_TURN_MS } from './limits.ts';

/** The clock is read once in this number of requests: a pipeline as long is answered whole on the busiest machine. */
const LOOK_COUNT = 16;

export class TurnShare {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Since the timer of {@link next} last fired. */
  #count = 0;
  #startMs = 0;
  #isUsedUp = false;
  #next: Promise<void> | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Counts a request, and says whether it has to wait for {@link next}. */
  isUsedUp(): boolean {
    if (++this.#count % LOOK_COUNT === 0 && !this.#isUsedUp) this.#look();
    return this.#isUsedUp;
  }

  /** Resolves in the next turn of the loop, which has a share of its own. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#count = 0;
        this.#isUsedUp = false;
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }

  /** The first look of a turn begins its share. */
  #look(): void {
    if (this.#next !== undefined) this.#isUsedUp = this.#clock.monotonicMs() - this.#startMs >= ANSWERED_TURN_MS;
    else {
      this.#startMs = this.#clock.monotonicMs();
      void this.next();
    }
  }
}
