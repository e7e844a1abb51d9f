/** Memoized answers of the jobs routes: a reload never lets one pass for an answer of the new catalogue. */
import { expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { ServedCatalogue } from '../../../src/catalogue/holder.ts';
import { JsonText } from '../../../src/http/answers.ts';
import { describeMarket } from '../../../src/modules/jobs/market.ts';
import { AnswersMemo } from '../../../src/modules/jobs/services.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { openedJobs } from '../../support/opened-jobs.ts';

const servedWith = (jobCount: number): ServedCatalogue => ({
  catalogue: new Catalogue(openedJobs(Array.from({ length: jobCount }, (_, i) => minimalJob({ id: `${i}` })))),
  isSynthetic: false,
});

it('the same question is answered from the catalogue that is served, each time', () => {
  let served = servedWith(1);
  const services = { catalogue: { current: () => served }, clock: { nowMs: () => 0 }, memo: new AnswersMemo() };
  const matching = (): unknown => {
    const answer = describeMarket.handle({} as never, services as never, {} as never, {} as never);
    const { data } = (answer instanceof JsonText ? JSON.parse(answer.text) : answer) as { data: object };
    return (data as { matching_active_jobs: number }).matching_active_jobs;
  };
  expect([matching(), matching(), matching()]).toEqual([1, 1, 1]);
  served = servedWith(2);
  expect([matching(), matching(), matching()]).toEqual([2, 2, 2]);
});
