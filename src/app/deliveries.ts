/**
 * Watches paid answers until they have left: handed whole to a connection that was still there (decisions §4). A look at
 * the connections a moment later is cheaper than a listener on each of them, and lets the runtimes answer alike: Bun says
 * nothing of an answer that went out, only of a client that went away before.
 */
import type { Timers } from '../base/timers.ts';
import type { Component } from '../modules/module.ts';

/** An answer is looked at this long after it was handed over: by then the runtime has written a small one, or failed. */
const LOOK_PAUSE_MS = 200;

/** The outcome of an answer that was handed to the runtime. */
export type Delivery = 'pending' | 'done' | 'lost';

/** The request of a watched answer. */
export interface DeliveredRequest {
  delivery(): Delivery;
}

interface Watched {
  readonly request: DeliveredRequest;
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

  /** Calls `delivered` once the answer has left; never when it did not. */
  watch(request: DeliveredRequest, delivered: () => void): void {
    this.#fresh.push({ request, delivered });
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
    for (const one of due) {
      const delivery = one.request.delivery();
      if (delivery === 'pending') this.#watched.push(one);
      else if (delivery === 'done') this.#report(one);
    }
    if (this.#watched.length > 0) this.#lookLater();
  }

  #report({ delivered }: Watched): void {
    try {
      delivered();
    } catch (failure) {
      this.#onFailure(failure);
    }
  }
}
