/** Pauses that all end at once when there is no reason to wait any longer. */
import type { Timers } from './timers.ts';

export class Pauses {
  readonly #timers: Timers;
  readonly #ends = new Set<() => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Resolves after `ms` milliseconds, or at {@link endAll}. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancelTimer();
        this.#ends.delete(end);
        resolve();
      };
      const cancelTimer = this.#timers.after(ms, end);
      this.#ends.add(end);
    });
  }

  endAll(): void {
    for (const end of this.#ends) end();
  }
}
