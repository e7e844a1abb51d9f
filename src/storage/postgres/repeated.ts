/**
 * Work in the background: again and again with a pause between two beginnings, or when it is asked for, one at a time. Asked for
 * while it is under way, it is done once more afterwards, so whoever asked gets one that began later.
 */
import type { Timers } from '../../base/timers.ts';

export class Repeated {
  readonly #timers: Timers;
  readonly #pauseMs: number;
  readonly #work: () => Promise<void>;
  readonly #onFault: (fault: unknown) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** @param onFault called with a failure that no one waited for */
  constructor(timers: Timers, pauseMs: number, work: () => Promise<void>, onFault: (fault: unknown) => void) {
    this.#timers = timers;
    this.#pauseMs = pauseMs;
    this.#work = work;
    this.#onFault = onFault;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#timers.after(this.#pauseMs, () => {
      this.start();
      this.now().catch((fault: unknown) => {
        if (!this.#isClosed) this.#onFault(fault);
      });
    });
  }

  /** One that begins now or later. */
  now(): Promise<void> {
    if (this.#running === undefined) return this.#begin();
    const again = (): Promise<void> => {
      this.#next = undefined;
      return this.#begin();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  /** Resolves when none is under way. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#running?.catch(() => {});
  }

  #begin(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const running = this.#work().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
