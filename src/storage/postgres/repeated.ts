/**
 * Repeats background work with a pause between two starts, or on request, one run at a time. A request during a run
 * causes one more run afterwards, so every caller gets a run that began after its request.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';

interface Clockwork {
  readonly clock: Clock;
  readonly timers: Timers;
}

export class Repeated {
  readonly #clockwork: Clockwork;
  readonly #pauseMs: number;
  readonly #work: () => Promise<void>;
  readonly #onFailure: (failure: unknown) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** @param onFailure called with the failure of a run that no caller awaits */
  constructor(clockwork: Clockwork, pauseMs: number, work: () => Promise<void>, onFailure: (failure: unknown) => void) {
    this.#clockwork = clockwork;
    this.#pauseMs = pauseMs;
    this.#work = work;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#arm(this.#pauseMs);
  }

  /** Requests a run that begins now or later, and resolves with its end. */
  now(): Promise<void> {
    if (this.#running === undefined) return this.#begin();
    const again = (): Promise<void> => {
      this.#next = undefined;
      return this.#begin();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  /** Resolves when no run is under way. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#running?.catch(() => {});
  }

  #arm(pauseMs: number): void {
    if (this.#isClosed) return;
    this.#cancel = this.#clockwork.timers.after(Math.ceil(pauseMs), () => void this.#turn());
  }

  /** Runs the work, and again while the next run has come due meanwhile. */
  async #turn(): Promise<void> {
    for (let leftMs = 0; leftMs <= 0 && !this.#isClosed; ) {
      const { clock } = this.#clockwork;
      const nextMs = clock.monotonicMs() + this.#pauseMs;
      await this.now().catch((failure: unknown) => {
        if (!this.#isClosed) this.#onFailure(failure);
      });
      leftMs = nextMs - clock.monotonicMs();
      if (leftMs > 0) this.#arm(leftMs);
    }
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
