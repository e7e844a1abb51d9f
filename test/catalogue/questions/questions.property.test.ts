/** The engine against the plain model of decisions §3: generated catalogues, generated questions, the same answers. */
import { afterAll, describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { companyActivity } from '../../../src/catalogue/questions/company.ts';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { search } from '../../../src/catalogue/questions/search.ts';
import { signals } from '../../../src/catalogue/questions/signals.ts';
import {
  type CatalogueShape,
  generatedJobs,
  generatedSearch,
  generatedSignals,
  NOW_MS,
  SeededChance,
} from '../../support/generated-catalogue.ts';
import { NaiveCatalogue } from '../../support/naive-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';

const DAY_MS = 86_400_000;

const CATALOGUES: readonly (CatalogueShape & { seed: number; questions: number; because: string })[] = [
  { seed: 1, jobCount: 0, questions: 20, because: 'is empty' },
  { seed: 2, jobCount: 1, questions: 200, because: 'has one job' },
  { seed: 3, jobCount: 40, closedPercent: 100, questions: 200, because: 'has closed jobs alone' },
  ...Array.from({ length: 16 }, (_, i) => ({
    seed: 10 + i,
    jobCount: 3 + i * 5,
    closedPercent: 30,
    questions: 1100,
    because: 'is small',
  })),
  { seed: 30, jobCount: 700, moreCompanies: 80, questions: 2000, because: 'has a company of a few hundred jobs' },
  { seed: 31, jobCount: 2600, moreCompanies: 40, questions: 800, because: 'has a company cohort with an index' },
  { seed: 32, jobCount: 30_000, moreCompanies: 9000, questions: 100, because: 'has a company of over 10000 jobs' },
  {
    seed: 33,
    jobCount: 30_000,
    moreCompanies: 900,
    questions: 60,
    because: 'is three times the cohort',
    oneDay: true,
  },
];

let comparisons = 0;

describe('the engine answers as the row-by-row model', () => {
  for (const { seed, questions, because, ...shape } of CATALOGUES) {
    it(`for a catalogue of ${shape.jobCount} jobs (seed ${seed}), which ${because}`, () => {
      const chance = new SeededChance(seed);
      const jobs = generatedJobs(chance, shape);
      const model = new NaiveCatalogue(jobs);
      const catalogue = new Catalogue(openedJobs(jobs));
      if (chance.is(50)) catalogue.warm();
      for (let i = 0; i < questions; i++) {
        compareOne(chance, jobs, model, catalogue);
        comparisons++;
      }
    });
  }

  afterAll(() => {
    // The issue asks for this many; fewer means that somebody thinned out the table above.
    expect(comparisons).toBeGreaterThanOrEqual(20_000);
  });
});

function compareOne(chance: SeededChance, jobs: Job[], model: NaiveCatalogue, catalogue: Catalogue): void {
  const kind = chance.below(5);
  if (kind === 0) {
    const domain = (jobs.length === 0 ? null : chance.oneOf(jobs).companyDomain) ?? ('acme.io' as CompanyDomain);
    expect(companyActivity(catalogue, domain), domain).toEqual(model.company(domain));
  } else if (kind < 3) {
    const filters = generatedSearch(chance, jobs);
    const limit = 1 + chance.below(10);
    expect(search(catalogue, filters, limit), JSON.stringify(filters)).toEqual(model.search(filters, limit));
  } else {
    const filters = generatedSignals(chance, jobs);
    const limit = 1 + chance.below(5);
    const period = observationPeriodEndingAt(NOW_MS + chance.oneOf([0, 0, 0, 1, -1, DAY_MS, -3 * DAY_MS, 90 * DAY_MS]));
    const because = JSON.stringify({ filters, limit, period });
    expect(signals(catalogue, filters, limit, period), because).toEqual(model.signals(filters, limit, period));
  }
}
