/**
 * Spreads answers over turns, for a runtime that runs all requests of a pipeline in one turn of the loop if each is
 * answered synchronously. Requests after the first milliseconds of a turn begin in the next turn. If another request
 * arrives on the connection meanwhile, the runtime closes it, which ends a pipeline; a client that sends one request at
 * a time just waits for a turn.
 */
import type { Clock } from '../../base/clock.ts';
import { ANSWERED_TURN_MS } from './limits.ts';

/**
 * The clock is read once in this many requests, so even the busiest machine answers a pipeline of this length whole.
 */
const LOOK_COUNT = 16;

export class TurnShare {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Requests since the timer of {@link next} last fired. */
  #count = 0;
  #startMs = 0;
  #isUsedUp = false;
  #next: Promise<void> | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Counts a request and returns whether it has to wait for {@link next}. */
  isUsedUp(): boolean {
    if (++this.#count % LOOK_COUNT === 0 && !this.#isUsedUp) this.#look();
    return this.#isUsedUp;
  }

  /** Resolves in the next turn of the loop, which has a new share. */
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
