/**
 * The kinds of answers that handlers give, and the outcome of an operation. respond.ts turns an outcome into a `Response`;
 * another protocol can encode the same outcome in its own form.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import { Refusal } from './errors.ts';
import type { DeferredAnswer } from './hot/deferred-answer.ts';
import { KeptJson } from './hot/kept-json.ts';

/** Header fields, names in lower case. */
export type HeaderRecord = Readonly<Record<string, string>>;

/**
 * A body that is made while it is sent, for long answers: the kit asks for a piece when the client has taken the one before,
 * each in a separate turn of the loop. It asks for nothing after the end, after a cut, or when the client has disconnected.
 */
export abstract class BodyPieces {
  /** Bodies with one share take turns like a single body, so that many readers of one thing delay no other. */
  readonly share: string;

  constructor(share: string) {
    this.share = share;
  }

  /**
   * One call at a time.
   * @returns the next piece, not empty; null at the end; `cut` when the rest will never come: the kit then closes the
   *   connection, so that the client cannot take the beginning for the whole. A rejection is a bug or a fault, and ends the
   *   body the same way
   */
  abstract next(): MaybePromise<Uint8Array | null | 'cut'>;
}

export type ReplyBody = string | Uint8Array | BodyPieces | null;

/**
 * A body that is ready as text or bytes, or made in pieces, with its media type. Any other value from a handler is sent
 * as JSON.
 */
export class Reply {
  /** null = no body, as a 304 requires. */
  readonly body: ReplyBody;
  readonly headers: HeaderRecord;
  /** Replaces the route's status. */
  readonly status: number | undefined;

  constructor(body: ReplyBody, headers: HeaderRecord, status?: number) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

/** An answer that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Created<T> = T | JsonText | KeptJson | Reply;

/** JSON, or a reply with its own type. */
export type AnswerBody = string | KeptJson | Reply;

/**
 * An answer that the kit creates once every admission has settled: a callback's ten minutes start when its payment has
 * settled. Before `create` is called, nothing exists that a failed settlement would have to undo.
 * @typeParam D its draft, as the principal of a request that asks for a lost answer gives it back
 */
export class AfterSettlement<T, D = unknown> {
  /** Plain JSON from which the same answer can be created after a crash; recorded with the payment's intent. */
  readonly draft: D;
  readonly create: () => Created<T> | Promise<Created<T>>;

  constructor(draft: D, create: () => Created<T> | Promise<Created<T>>) {
    this.draft = draft;
    this.create = create;
  }
}

/** A success, ready to be sent. */
export class Answer {
  readonly body: AnswerBody;
  /** Headers that the ways in add, such as the receipt of a payment. */
  readonly receipt: HeaderRecord | undefined;
  /** To be called once the answer was handed whole to a connection that was still there. */
  readonly delivered: (() => void) | undefined;

  constructor(body: AnswerBody, receipt: HeaderRecord | undefined, delivered?: () => void) {
    this.body = body;
    this.receipt = receipt;
    this.delivered = delivered;
  }
}

/** The outcome of a request: an answer, a refusal (with the receipt, if there is one, in its headers), or a deferred answer. */
export type Outcome = Answer | Refusal | DeferredAnswer;

/** Writes the body of a success, before settlement, so that no client pays for an answer that cannot be written. */
export function answerBodyOf(answer: unknown): AnswerBody {
  if (answer instanceof Reply || answer instanceof KeptJson) return answer;
  return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
}

/** The outcome of an answer without admissions to settle. */
export const outcomeOf = (answer: unknown): Answer | Refusal =>
  answer instanceof Refusal ? answer : new Answer(answerBodyOf(answer), undefined);
