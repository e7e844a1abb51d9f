/**
 * Answers that come later and have no admissions to settle: long polls, of which a server holds ten thousand. A promise with
 * its closures would cost memory at each layer that the answer passes; instead the HTTP edge passes one recipient in, and no
 * layer stores anything (bench/parked.ts counts the bytes of a wait). Answers that come soon are promises.
 */

/** Receives a deferred answer. */
export interface AnswerRecipient {
  /** Called once. @param answer as a handler answers: a refusal, a reply, or a value to be sent as JSON */
  answered(answer: unknown): void;
}

/** Marks an answer that was not given yet; no other value can, because any value may be an answer. */
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
