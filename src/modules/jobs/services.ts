/** The services of the jobs routes' handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { MemoizedAnswers } from '../../http/hot/memoized-answers.ts';
import type { AnswerPeriod } from '../answer-period.ts';
import type { CatalogueServices } from '../catalogue-refusals.ts';

export interface JobsServices extends CatalogueServices, RatedServices, OverloadServices, PaidServices {
  readonly clock: { nowMs(): number };
  readonly memo: AnswersMemo;
}

/** Memoized answers of the routes that count over the cohort, from the currently served catalogue. */
export class AnswersMemo {
  #served: ServedCatalogue | undefined;
  #answers = new MemoizedAnswers<AnswerPeriod>();

  over(served: ServedCatalogue): MemoizedAnswers<AnswerPeriod> {
    if (served !== this.#served) {
      this.#served = served;
      this.#answers = new MemoizedAnswers();
    }
    return this.#answers;
  }
}
