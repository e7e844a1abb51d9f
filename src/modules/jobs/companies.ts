/** GET /v1/companies, free: the companies that can be asked for (decisions §8). */
import * as v from 'valibot';
import { perClient } from '../../access/rate-limit.ts';
import { isoTime } from '../../base/iso-time.ts';
import { companiesCalled } from '../../catalogue/questions/companies.ts';
import { route } from '../../http/route.ts';
import { dateTime, wholeNumber } from '../answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_OBSERVED_AT } from '../catalogue-examples.ts';
import { terms } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, hasCatalogue } from '../catalogue-refusals.ts';
import { companyName } from '../company-answer.ts';
import type { JobsServices } from './services.ts';

const COMPANY_COUNT_MAX = 10;

const companiesData = v.pipe(
  v.strictObject({
    companies: v.pipe(v.array(companyName), v.maxLength(COMPANY_COUNT_MAX)),
    returned_companies: wholeNumber(0, COMPANY_COUNT_MAX),
  }),
  v.check(({ companies, returned_companies }) => returned_companies === companies.length),
);

export const findCompanies = route<JobsServices>()({
  operation: 'findCompanies',
  method: 'GET',
  path: '/v1/companies',
  summary: 'Find up to 10 companies that can be asked for',
  description:
    'Companies of the monitored catalogue by name or domain, those with the most active jobs first. The domain is what the ' +
    '`company` parameter of other operations takes; a company without one cannot be asked for.',
  access: [perClient],
  query: v.strictObject({ q: terms({ min: 2, max: 80, matching: "each in the company's name or domain" }) }),
  answer: v.strictObject({ data: companiesData, meta: v.strictObject({ generated_at: dateTime }) }),
  errors: CATALOGUE_ERRORS,
  examples: {
    query: { q: 'example' },
    answer: {
      data: { companies: [EXAMPLE_COMPANY], returned_companies: 1 },
      meta: { generated_at: EXAMPLE_OBSERVED_AT },
    },
  },
  ready: hasCatalogue,
  handle({ q }, { catalogue, clock }) {
    return askServed(catalogue, (served) => {
      const companies = companiesCalled(served.catalogue.snapshot, q, COMPANY_COUNT_MAX);
      return {
        data: { companies, returned_companies: companies.length },
        meta: { generated_at: isoTime(clock.nowMs()) },
      };
    });
  },
});
