/**
 * Answers to questions that are asked again. Two answers to one question differ in their times only, as long as no
 * observation has entered or left the period between them; so from its third time on an answer is a text with the times put
 * in: 5 µs where counting and writing it take 38 (Node 26.10.0; Bun 1.4.5 6 and 22).
 */
import { memoizeRecent } from '../../base/memoize-recent.ts';
import { JsonText } from '../../http/route.ts';
import type { AnswerPeriod } from './answer-period.ts';

/** 7 KB each. */
const ANSWER_COUNT_MAX = 1000;
const QUESTION_LENGTH_MAX = 512;

/** Stand where an answer has the start and the end of its period. */
const START = '\0start';
const END = '\0end';
const PLACES = /\\u0000(start|end)/;

/** Writes an answer with the period that ends with it; what else it says is settled. */
export type Write<A> = (period: AnswerPeriod) => A;

type Text = (period: AnswerPeriod) => string;

/** The same as `JSON.stringify(write(period))` for any period. */
function textOf(write: Write<unknown>, period: AnswerPeriod): Text {
  const [first = '', ...rest] = JSON.stringify(write({ ...period, start: START, end: END })).split(PLACES);
  const text: Text = ({ start, end }) => {
    let filled = first;
    for (let i = 0; i < rest.length; i += 2) filled += (rest[i] === 'start' ? start : end) + rest[i + 1];
    return filled;
  };
  // An answer that repeats such a mark from the question or the catalogue is written anew each time.
  return text(period) === JSON.stringify(write(period)) ? text : (one) => JSON.stringify(write(one));
}

class KeptAnswer {
  readonly #write: Write<unknown>;
  #wasGiven = false;
  #text: Text | undefined;

  constructor(write: Write<unknown>) {
    this.#write = write;
  }

  at(period: AnswerPeriod): unknown {
    if (!this.#wasGiven) {
      this.#wasGiven = true;
      return this.#write(period);
    }
    this.#text ??= textOf(this.#write, period);
    return new JsonText(this.#text(period));
  }
}

const noAnswers = () =>
  memoizeRecent(
    (_question: string, settle: () => Write<unknown>) => new KeptAnswer(settle()),
    ANSWER_COUNT_MAX,
    QUESTION_LENGTH_MAX,
  );

/** Of one kind of question over one catalogue. */
export class KeptAnswers {
  #answers = noAnswers();
  #membership = 0;

  /**
   * @param question the same text for the same question
   * @param membership another one when an observation has entered or left the period; what was kept before is forgotten
   * @param settle finds out all that does not depend on the period's very ends
   */
  answer<A>(question: string, membership: number, period: AnswerPeriod, settle: () => Write<A>): A | JsonText {
    if (membership !== this.#membership) {
      this.#membership = membership;
      this.#answers = noAnswers();
    }
    return this.#answers(question, settle).at(period) as A | JsonText;
  }
}
