/** `GET /v1/jobs/signals`: the aggregation over the cohort. The bench compares every answer with the row-by-row model first. */
import { deepStrictEqual } from 'node:assert/strict';
import { observationPeriodEndingAt } from '../src/catalogue/questions/period.ts';
import { signals } from '../src/catalogue/questions/signals.ts';
import { NaiveCatalogue } from '../test/support/naive-catalogue.ts';
import { type Context, type Figure, timed } from './harness.ts';
import { modelRows, NOW_MS, openCatalogue, SIGNAL_QUESTIONS } from './synthetic-catalogue.ts';

const DAY_MS = 86_400_000;

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const catalogue = openCatalogue(cataloguePath);
  const { snapshot } = catalogue;
  const model = new NaiveCatalogue(modelRows(snapshot));
  const period = observationPeriodEndingAt(NOW_MS);
  const figures: Figure[] = [];
  for (const [title, filters] of Object.entries(SIGNAL_QUESTIONS)) {
    const answer = signals(catalogue, filters, 5, period);
    deepStrictEqual(answer, model.signals(filters, 5, period));
    const note = `${answer.observedSampleJobs} rows`;
    figures.push(await timed(title, size, () => signals(catalogue, filters, 5, period), note));
  }
  deepStrictEqual(signals(catalogue, {}, 5, period), model.signals({}, 5, period));
  figures.push(await timed('no filter, kept', size, () => signals(catalogue, {}, 5, period)));

  // Two periods in turn with different rows, so that neither answer comes from the cache.
  const periods = [observationPeriodEndingAt(NOW_MS), observationPeriodEndingAt(NOW_MS - DAY_MS)] as const;
  for (const each of periods) deepStrictEqual(signals(catalogue, {}, 5, each), model.signals({}, 5, each));
  let turn = 0;
  figures.push(
    await timed('no filter, computed', size, () => signals(catalogue, {}, 5, periods[turn++ % 2 === 0 ? 0 : 1])),
  );
  snapshot.close();
  return figures;
}
