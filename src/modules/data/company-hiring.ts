/** GET /v1/companies/{domain}/hiring: one company's hiring activity over all of its jobs. */
import * as v from 'valibot';
import { companyHiring } from '../../catalogue/listing/companies.ts';
import { observationPeriodEndingAt } from '../../catalogue/questions/period.ts';
import { route } from '../../http/route.ts';
import { observationPeriod, periodOf } from '../answer-period.ts';
import { count } from '../answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { period } from '../catalogue-parameters.ts';
import { COMPANY_NOT_FOUND, hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { companyDataOf, companyEntries, EXAMPLE_ACTIVITY } from '../company-answer.ts';
import { inCompany } from './companies.ts';
import { answered, envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import type { DataServices } from './services.ts';

const COST = 5;

export const getCompanyHiring = route<DataServices>()({
  operation: 'getCompanyHiring',
  method: 'GET',
  path: '/v1/companies/:domain/hiring',
  decodesParams: true,
  summary: "One company's hiring activity over all of its jobs",
  description:
    'Counts, departments and skills over every active job of the company, and what the last seven days brought.',
  access: keyed('companies:read', COST),
  query: v.strictObject({ period: v.optional(period, '7d') }),
  answer: envelope(
    v.strictObject({
      ...companyEntries,
      first_observed_jobs: count,
      no_longer_observed_jobs: count,
      hiring_activity_score: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
      observation_period: observationPeriod,
    }),
  ),
  errors: [...SNAPSHOT_ERRORS, COMPANY_NOT_FOUND],
  examples: {
    params: { domain: EXAMPLE_COMPANY.domain },
    answer: {
      data: {
        ...EXAMPLE_ACTIVITY,
        first_observed_jobs: 6,
        no_longer_observed_jobs: 2,
        hiring_activity_score: 85.71,
        observation_period: EXAMPLE_PERIOD,
      },
      meta: exampleMeta(COST),
    },
  },
  ready: hasCatalogue,
  handle: (_, services, request) =>
    answered(services, request, (catalogue, nowMs) =>
      inCompany(request.params.domain, (domain) => {
        const observed = observationPeriodEndingAt(nowMs);
        const hiring = companyHiring(catalogue, domain, observed);
        return (
          hiring && {
            data: {
              ...companyDataOf(hiring),
              first_observed_jobs: hiring.firstObservedJobs,
              no_longer_observed_jobs: hiring.noLongerObservedJobs,
              hiring_activity_score: hiring.hiringActivityScore,
              observation_period: periodOf(observed),
            },
            cost: COST,
          }
        );
      }),
    ),
});
