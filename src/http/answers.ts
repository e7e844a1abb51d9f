/**
 * What handlers answer with, and what an operation comes to (`Outcome`). No `Response` is made here: the HTTP edge does that
 * (respond.ts), and another protocol may say the same outcome in its own way.
 */

import { Refusal } from './errors.ts';
import type { DeferredAnswer } from './hot/deferred-answer.ts';

/** Header fields, names in lower case. */
export type HeaderRecord = Readonly<Record<string, string>>;

/** A body that is ready as text or bytes, with its media type; any other value that a handler answers is sent as JSON. */
export class Reply {
  /** null = none, as a 304 must have it. */
  readonly body: string | Uint8Array | null;
  readonly headers: HeaderRecord;
  /** In place of the route's status. */
  readonly status: number | undefined;

  constructor(body: string | Uint8Array | null, headers: HeaderRecord, status?: number) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

/** An answer that its handler has as JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * An answer that is made only once every admission has settled: a callback's ten minutes start when it is paid for. Nothing
 * is kept before `create` is called; without that call nothing has to be undone.
 */
export class AfterSettlement<T> {
  readonly create: () => T | Reply | Promise<T | Reply>;

  constructor(create: () => T | Reply | Promise<T | Reply>) {
    this.create = create;
  }
}

/** A success, ready to be sent. */
export class Answer {
  /** JSON text, or a reply with its own type. */
  readonly body: string | Reply;
  /** What the ways in add: the receipt of a payment. */
  readonly receipt: HeaderRecord | undefined;

  constructor(body: string | Reply, receipt: HeaderRecord | undefined) {
    this.body = body;
    this.receipt = receipt;
  }
}

/** What a request comes to: an answer, a refusal (whose headers hold the receipt where there is one), or either one later. */
export type Outcome = Answer | Refusal | DeferredAnswer;

/** The body of a success. Made before anything settles, so that no payment is taken for an answer that cannot be written. */
export function bodyOf(answer: unknown): string | Reply {
  if (answer instanceof Reply) return answer;
  return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
}

/** The outcome of an answer that waits for no settlement. */
export const outcomeOf = (answer: unknown): Answer | Refusal =>
  answer instanceof Refusal ? answer : new Answer(bodyOf(answer), undefined);
