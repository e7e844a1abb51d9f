/** The services of the jobs routes' handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import type { JsonText } from '../../http/answers.ts';
import { MemoizedAnswers, type WriteAnswer } from '../../http/hot/memoized-answers.ts';
import type { AnswerPeriod } from '../answer-period.ts';
import { type CatalogueServices, fromCatalogue, type Unread } from '../catalogue-refusals.ts';

export interface JobsServices extends CatalogueServices, RatedServices, OverloadServices, PaidServices {
  readonly clock: { nowMs(): number };
  readonly memo: AnswersMemo;
}

/** Memoized answers of the routes that count over the cohort, from the currently served catalogue. */
export class AnswersMemo {
  #served: ServedCatalogue | undefined;
  #answers = new MemoizedAnswers<AnswerPeriod>();

  /** As `MemoizedAnswers`, over a catalogue that may still have to read a part of its file. */
  answer<A>(
    served: ServedCatalogue,
    question: string,
    periodVersion: number,
    period: AnswerPeriod,
    prepare: () => WriteAnswer<AnswerPeriod, A>,
  ): A | JsonText | Unread {
    if (served !== this.#served) {
      this.#served = served;
      this.#answers = new MemoizedAnswers();
    }
    return fromCatalogue(() => this.#answers.answer(question, periodVersion, period, prepare));
  }
}
