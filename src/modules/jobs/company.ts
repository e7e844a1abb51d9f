/** GET /v1/jobs/company: one company's observed hiring activity over seven days. */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { companyActivity } from '../../catalogue/questions/company.ts';
import { route } from '../../http/route.ts';
import { periodEndingAt } from '../answer-period.ts';
import { EXAMPLE_COMPANY } from '../catalogue-examples.ts';
import { companyDomain, period } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, COMPANY_NOT_FOUND, hasCatalogue, noCompany } from '../catalogue-refusals.ts';
import { companyDataOf, companyEntries, EXAMPLE_ACTIVITY } from '../company-answer.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

export const summarizeCompany = route<JobsServices>()({
  operation: 'summarizeCompany',
  method: 'GET',
  path: '/v1/jobs/company',
  summary: "Summarize one company's observed hiring activity",
  description:
    'Counts, departments and skills over the most recently observed active jobs of one company. For a company that is not in ' +
    'the catalogue the answer to a valid payment is 404, and nothing is charged.',
  access: [perClient, unlessOverloaded, paid('0.05', 'company')],
  query: v.strictObject({ company: companyDomain, period: v.optional(period, '7d') }),
  answer: envelope(v.strictObject(companyEntries)),
  errors: [...CATALOGUE_ERRORS, COMPANY_NOT_FOUND],
  examples: {
    query: { company: EXAMPLE_COMPANY.domain },
    answer: {
      data: EXAMPLE_ACTIVITY,
      meta: exampleMeta('requested company', 42),
    },
  },
  ready: hasCatalogue,
  handle(input, { catalogue, clock }) {
    return askServed(catalogue, (served) => {
      const activity = companyActivity(served.catalogue, input.company);
      if (activity === undefined) return noCompany(input.company);
      return {
        data: companyDataOf(activity),
        meta: metaOf(served, activity.cohort, periodEndingAt(clock.nowMs())),
      };
    });
  },
});
