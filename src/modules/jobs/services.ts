/** The services of the jobs routes' handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { Clock } from '../../base/clock.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { type ObservationPeriod, observationPeriodEndingAt } from '../../catalogue/questions/period.ts';
import type { JsonText } from '../../http/answers.ts';
import { MemoizedAnswers, type WriteAnswer } from '../../http/hot/memoized-answers.ts';
import { type AnswerPeriod, periodOf } from '../answer-period.ts';
import type { CatalogueServices } from '../catalogue-refusals.ts';

export interface JobsServices extends CatalogueServices, RatedServices, OverloadServices, PaidServices {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly memo: AnswersMemo;
}

/** Memoized answers of the routes that count over the cohort, from the currently served catalogue. */
export class AnswersMemo {
  #served: ServedCatalogue | undefined;
  #periodVersion = 0;
  #answers = new MemoizedAnswers<AnswerPeriod>();

  /** @param question the route's name and the input, as JSON @param prepare called with the period that ends now */
  answer<A>(
    served: ServedCatalogue,
    nowMs: number,
    question: readonly unknown[],
    prepare: (observed: ObservationPeriod) => WriteAnswer<AnswerPeriod, A>,
  ): A | JsonText {
    const observed = observationPeriodEndingAt(nowMs);
    const periodVersion = served.catalogue.ranking.setPeriod(observed);
    if (served !== this.#served || periodVersion !== this.#periodVersion) {
      this.#served = served;
      this.#periodVersion = periodVersion;
      this.#answers = new MemoizedAnswers();
    }
    const period = periodOf(observed);
    return this.#answers.answer(JSON.stringify(question), period, () => prepare(observed));
  }
}
