/**
 * Watches paid answers until they have left: handed whole to a connection that was still there (decisions §4). Some listeners
 * report that themselves. Bun reports only a client that disconnected before, so there a check of the abort signals follows a
 * moment later. A watched answer holds nothing of its request: the garbage collector would copy thousands of requests that
 * live a moment longer.
 */
import type { Timers } from '../base/timers.ts';
import type { Component } from '../modules/module.ts';

/** Time from handing over an answer to checking it: by then the runtime has written a small answer, or failed. */
const LOOK_PAUSE_MS = 200;

/** The request of a watched answer. */
export interface DeliveredRequest {
  /** Calls `delivered` once the answer has left, and never otherwise. @returns false when the listener cannot know */
  onDelivered(delivered: () => void): boolean;
  /** Aborts when the client disconnects before all of the answer has left; undefined: no client can disconnect. */
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
  /** Answers handed over since the last check. */
  #fresh: Watched[] = [];
  #isScheduled = false;
  #cancel = (): void => {};

  /** @param onFailure receives what a `delivered` throws; must not throw */
  constructor(timers: Timers, onFailure: (failure: unknown) => void) {
    this.#timers = timers;
    this.#onFailure = onFailure;
  }

  /** Calls `delivered` once the answer has left, and never otherwise. It must hold no part of the request. */
  watch(request: DeliveredRequest, delivered: () => void): void {
    if (request.onDelivered(() => this.#report(delivered))) return;
    this.#fresh.push({ signal: request.signal, delivered });
    this.#lookLater();
  }

  readonly close = (): void => {
    this.#cancel();
    // The first check only moves the fresh answers to the watched ones; the second checks them.
    this.#look();
    this.#look();
    this.#cancel();
  };

  #lookLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#cancel = this.#timers.after(LOOK_PAUSE_MS, () => this.#look());
  }

  /** Checks every answer that was handed over before the last check, so that each had at least LOOK_PAUSE_MS. */
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
