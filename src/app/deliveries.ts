/**
 * Watches paid answers until they have left: handed whole to a connection that was still there (decisions §4). Some listeners
 * report that themselves. Bun reports only a client that disconnected before, so there a check of the abort signals follows a
 * moment later, soon after a short answer: until then a kill leaves the sale undelivered. A watched answer holds nothing of its
 * request: the garbage collector would copy thousands of requests that live a moment longer.
 */
import type { Timers } from '../base/timers.ts';
import { type AnswerBody, BodyPieces, Reply } from '../http/answers.ts';
import type { Component } from '../modules/module.ts';

/** Least time from handing over an answer to checking it: by then the runtime has written it, or failed. */
const LOOK_PAUSE_MS = { short: 25, long: 200 } as const;

/** The system takes a body of this length, characters or bytes, at once, because its buffer for the socket is empty. */
const SHORT_LENGTH_MAX = 16_384;

/** The request of a watched answer. */
export interface DeliveredRequest {
  /** Calls `delivered` once the answer has left, and never otherwise. @returns false when the listener cannot know */
  onDelivered(delivered: () => void): boolean;
  /** Aborts when the client disconnects before all of the answer has left; undefined: no client can disconnect. */
  readonly signal: AbortSignal | undefined;
}

interface Watched {
  readonly signal: AbortSignal | undefined;
  readonly report: () => void;
}

/** Checks answers in groups. */
class Looks {
  readonly #timers: Timers;
  readonly #pauseMs: number;
  #watched: Watched[] = [];
  /** Answers handed over since the last check. */
  #fresh: Watched[] = [];
  #isScheduled = false;
  #cancel = (): void => {};

  constructor(timers: Timers, pauseMs: number) {
    this.#timers = timers;
    this.#pauseMs = pauseMs;
  }

  add(watched: Watched): void {
    this.#fresh.push(watched);
    this.#lookLater();
  }

  close(): void {
    this.#cancel();
    // The first check only moves the fresh answers to the watched ones; the second checks them.
    this.#look();
    this.#look();
    this.#cancel();
  }

  #lookLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#cancel = this.#timers.after(this.#pauseMs, () => this.#look());
  }

  /** Checks every answer that was handed over before the last check, so that each had at least the pause. */
  #look(): void {
    this.#isScheduled = false;
    const due = this.#watched;
    this.#watched = this.#fresh;
    this.#fresh = [];
    for (const { signal, report } of due) if (signal?.aborted !== true) report();
    if (this.#watched.length > 0) this.#lookLater();
  }
}

function isShort(body: AnswerBody): boolean {
  const sent = body instanceof Reply ? body.body : typeof body === 'string' ? body : body.text;
  return sent === null || (!(sent instanceof BodyPieces) && sent.length <= SHORT_LENGTH_MAX);
}

export class Deliveries implements Component {
  readonly #onFailure: (failure: unknown) => void;
  readonly #short: Looks;
  readonly #long: Looks;

  /** @param onFailure receives what a `delivered` throws; must not throw */
  constructor(timers: Timers, onFailure: (failure: unknown) => void) {
    this.#onFailure = onFailure;
    this.#short = new Looks(timers, LOOK_PAUSE_MS.short);
    this.#long = new Looks(timers, LOOK_PAUSE_MS.long);
  }

  /** Calls `delivered` once the answer has left, and never otherwise. It must hold no part of the request. */
  watch(request: DeliveredRequest, body: AnswerBody, delivered: () => void): void {
    const report = (): void => this.#report(delivered);
    if (request.onDelivered(report)) return;
    (isShort(body) ? this.#short : this.#long).add({ signal: request.signal, report });
  }

  readonly close = (): void => {
    this.#short.close();
    this.#long.close();
  };

  #report(delivered: () => void): void {
    try {
      delivered();
    } catch (failure) {
      this.#onFailure(failure);
    }
  }
}
