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

/** In place of an answer that was not given yet: any value may be one. */
const NOT_GIVEN = Symbol('not given');

export abstract class DeferredAnswer<T = unknown> {
  #recipient: AnswerRecipient | undefined;
  #early: T | typeof NOT_GIVEN = NOT_GIVEN;

  /** Called once, by the edge. */
  deliverTo(recipient: AnswerRecipient): void {
    if (this.#early === NOT_GIVEN) this.#recipient = recipient;
    else recipient.answered(this.#early);
  }

  /** Called once. */
  protected give(answer: T): void {
    if (this.#recipient === undefined) this.#early = answer;
    else this.#recipient.answered(answer);
  }
}
