/**
 * Memoizes answers to repeated questions. Two answers to one question over the same facts differ only in the times that they
 * state, so from the third answer on, the memoized text is sent with the current times filled in. bench/offer.ts measures a
 * repeated paid answer with and without it.
 */
import { memoizeRecent } from '../../base/memoize-recent.ts';
import { JsonText } from '../answers.ts';

/** The period that an answer states, as text. */
export interface StatedPeriod {
  readonly start: string;
  readonly end: string;
}

/** Memoized answers of about 7 KB each. */
const ANSWER_COUNT_MAX = 1000;
const QUESTION_LENGTH_MAX = 512;

/** Placeholders for the start and the end of the period. */
const START = '\0start';
const END = '\0end';
const PLACEHOLDERS = /\\u0000(start|end)/;

/** Writes an answer with the period that it states; everything else in the answer is fixed. */
export type WriteAnswer<P extends StatedPeriod, A> = (period: P) => A;

type Text = (period: StatedPeriod) => string;

/** The same as `JSON.stringify(write(period))` for any period. */
function textOf<P extends StatedPeriod>(write: WriteAnswer<P, unknown>, period: P): Text {
  const [first = '', ...rest] = JSON.stringify(write({ ...period, start: START, end: END })).split(PLACEHOLDERS);
  const text: Text = ({ start, end }) => {
    let filled = first;
    for (let i = 0; i < rest.length; i += 2) filled += (rest[i] === 'start' ? start : end) + rest[i + 1];
    return filled;
  };
  // If the question or the catalogue itself contains a placeholder, the answer is written in full each time.
  return text(period) === JSON.stringify(write(period)) ? text : (one) => JSON.stringify(write({ ...period, ...one }));
}

class MemoizedAnswer<P extends StatedPeriod> {
  readonly #write: WriteAnswer<P, unknown>;
  #wasGiven = false;
  #text: Text | undefined;

  constructor(write: WriteAnswer<P, unknown>) {
    this.#write = write;
  }

  at(period: P): unknown {
    if (!this.#wasGiven) {
      this.#wasGiven = true;
      return this.#write(period);
    }
    this.#text ??= textOf(this.#write, period);
    return new JsonText(this.#text(period));
  }
}

const emptyMemo = <P extends StatedPeriod>() =>
  memoizeRecent(
    (_question: string, prepare: () => WriteAnswer<P, unknown>) => new MemoizedAnswer(prepare()),
    ANSWER_COUNT_MAX,
    QUESTION_LENGTH_MAX,
  );

/** The memoized answers to one kind of question over one catalogue. */
export class MemoizedAnswers<P extends StatedPeriod> {
  #answers = emptyMemo<P>();
  #factsVersion = 0;

  /**
   * @param question the same text for the same question
   * @param factsVersion changes with the facts; a new version drops every memoized answer
   * @param prepare computes everything that does not depend on the exact ends of the period
   */
  answer<A>(question: string, factsVersion: number, period: P, prepare: () => WriteAnswer<P, A>): A | JsonText {
    if (factsVersion !== this.#factsVersion) {
      this.#factsVersion = factsVersion;
      this.#answers = emptyMemo<P>();
    }
    return this.#answers(question, prepare).at(period) as A | JsonText;
  }
}
