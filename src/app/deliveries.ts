/**
 * Watches paid answers until they have left: handed whole to a connection that was still there (decisions §4). A listener
 * that hears of it says so itself. Bun says nothing of an answer that went out, only of a client that went away before, so
 * there a look at the signals follows a moment later. An answer that is watched keeps nothing of its request: thousands of
 * requests that live for a moment longer would be copied by the garbage collector.
 */
import type { Timers } from '../base/timers.ts';
import type { Component } from '../modules/module.ts';

/** An answer is looked at this long after it was handed over: by then the runtime has written a small one, or failed. */
const LOOK_PAUSE_MS = 200;

/** The request of a watched answer. */
export interface DeliveredRequest {
  /** Calls `delivered` once the answer has left, never when it did not; false: the listener does not hear of it. */
  onDelivered(delivered: () => void): boolean;
  /** Aborts when the client goes away before all of the answer has left; undefined: no client can go away. */
  readonly signal: AbortSignal | undefined;
}

interface Watched {
  readonly signal: AbortSignal | undefined;
  readonly delivered: () => void;
}

export class Deliveries implements Component {
  readonly #timers: Timers;
  readonly #onFailure: (failure: unknown) => void;
  #watched: Watched[] = [];
  /** Handed over since the last look. */
  #fresh: Watched[] = [];
  #isScheduled = false;
  #cancel = (): void => {};

  /** @param onFailure receives what a `delivered` throws; must not throw */
  constructor(timers: Timers, onFailure: (failure: unknown) => void) {
    this.#timers = timers;
    this.#onFailure = onFailure;
  }

  /** Calls `delivered` once the answer has left; never when it did not. It must hold no part of the request. */
  watch(request: DeliveredRequest, delivered: () => void): void {
    if (request.onDelivered(() => this.#report(delivered))) return;
    this.#fresh.push({ signal: request.signal, delivered });
    this.#lookLater();
  }

  readonly close = (): void => {
    this.#cancel();
    // The first look only moves the fresh answers to the watched ones; the second looks at them.
    this.#look();
    this.#look();
    this.#cancel();
  };

  #lookLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#cancel = this.#timers.after(LOOK_PAUSE_MS, () => this.#look());
  }

  /** Looks at every answer that was handed over before the last look, so that each has had its time. */
  #look(): void {
    this.#isScheduled = false;
    const due = this.#watched;
    this.#watched = this.#fresh;
    this.#fresh = [];
    for (const { signal, delivered } of due) if (signal?.aborted !== true) this.#report(delivered);
    if (this.#watched.length > 0) this.#lookLater();
  }

  #report(delivered: () => void): void {
    try {
      delivered();
    } catch (failure) {
      this.#onFailure(failure);
    }
  }
}
