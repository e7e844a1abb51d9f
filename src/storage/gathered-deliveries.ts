/** Deliveries of sales on their way into the books: those of a short time are recorded together. */
import type { Timers } from '../base/timers.ts';

/**
 * Deliveries wait this long to share a commit that is needed anyway; after a kill, the books show those still waiting as
 * undelivered.
 */
const PAUSE_MS = 50;
/** Deliveries that are recorded at once. */
const COUNT_MAX = 1000;

export class GatheredDeliveries {
  readonly #timers: Timers;
  readonly #record: (serials: readonly number[]) => Promise<unknown>;
  /** Serials of sales whose delivery is not on record yet. */
  #serials: number[] = [];
  #isClosed = false;
  /** Cancels the scheduled record, if there is one. */
  #cancel: (() => void) | undefined;
  #recording: Promise<void> = Promise.resolve();

  /** @param record writes deliveries into the books */
  constructor(timers: Timers, record: (serials: readonly number[]) => Promise<unknown>) {
    this.#timers = timers;
    this.#record = record;
  }

  add(serial: number): void {
    this.#serials.push(serial);
    if (this.#cancel !== undefined || this.#isClosed) return;
    this.#cancel = this.#timers.after(PAUSE_MS, () => {
      this.#cancel = undefined;
      void this.#recordNext();
    });
  }

  /** Records again those that were refused, unless a record of all is due anyway. Never rejects. */
  async retry(): Promise<void> {
    if (this.#cancel === undefined) await this.#recordNext();
  }

  /** Records those still waiting. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#recordNext();
  }

  /** Behind a record that is under way, whose deliveries may come back. */
  #recordNext(): Promise<void> {
    this.#recording = this.#recording.then(() => this.#recordAll());
    return this.#recording;
  }

  /** Those that the state refuses are recorded with the next ones, or by the next {@link retry}. */
  async #recordAll(): Promise<void> {
    let count: number;
    do {
      const serials = this.#serials.splice(0, COUNT_MAX);
      count = serials.length;
      if (count === 0) return;
      try {
        await this.#record(serials);
      } catch {
        this.#serials.unshift(...serials);
        return;
      }
    } while (count === COUNT_MAX || this.#isClosed);
  }
}
