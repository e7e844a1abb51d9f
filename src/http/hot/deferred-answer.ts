/**
 * Answers that come later and hold nothing that was paid for: long polls, held by the ten thousand. A promise with its
 * closures costs memory at each layer that an answer passes on its way out; here the edge hands in one recipient and no
 * layer keeps anything (bench/parked.ts counts the bytes a wait takes). Answers that come soon are promises.
 */

/** Receives a deferred answer. */
export interface AnswerRecipient {
  /** Called once. @param answer as a handler answers: a refusal, a reply, or a value to be sent as JSON */
  answered(answer: unknown): void;
}

export abstract class DeferredAnswer<T = unknown> {
  #recipient: AnswerRecipient | undefined;

  /** The edge's call, in the turn in which the answer was deferred. */
  deliverTo(recipient: AnswerRecipient): void {
    this.#recipient = recipient;
  }

  /** Called once, in a later turn than the one in which this was made. */
  protected give(answer: T): void {
    this.#recipient?.answered(answer);
  }
}
