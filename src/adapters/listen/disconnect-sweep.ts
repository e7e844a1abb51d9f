/**
 * `onDisconnect` for a runtime that reports a disconnected client only by an abort signal. A listener on the signal of
 * each held request would add a third to the memory of a wait on Bun (`bench/waits.ts`), so one timer looks at all
 * signals instead. It runs only while there are signals.
 *
 * Cost: an element in each of two arrays for a held request, and one pass over all of them per {@link SWEEP_INTERVAL_MS}.
 */
import type { DisconnectListener } from '../../base/disconnect-listener.ts';

/** How late the sweep may notice a disconnect. */
const SWEEP_INTERVAL_MS = 500;

export class DisconnectSweep {
  #signals: AbortSignal[] = [];
  /** The listener of the signal at the same index. */
  #listeners: DisconnectListener[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Calls the listener once after the signal aborts, unless the listener is over first. */
  watch(signal: AbortSignal, listener: DisconnectListener): void {
    this.#signals.push(signal);
    this.#listeners.push(listener);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  #sweep(): void {
    const signals = this.#signals;
    const listeners = this.#listeners;
    this.#signals = [];
    this.#listeners = [];
    for (const [i, listener] of listeners.entries()) {
      if (listener.isOver) continue;
      const signal = signals[i] as AbortSignal;
      if (signal.aborted) {
        listener.handleEvent();
        continue;
      }
      this.#signals.push(signal);
      this.#listeners.push(listener);
    }
    if (this.#signals.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
