/** GET /v1/companies/{domain}: one company over all of its jobs. */
import * as v from 'valibot';
import { isoTimeOrNull } from '../../base/iso-time.ts';
import { companySummary } from '../../catalogue/listing/companies.ts';
import { route } from '../../http/route.ts';
import { count, dateTime } from '../answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_FIRST_OBSERVED_AT, EXAMPLE_OBSERVED_AT } from '../catalogue-examples.ts';
import { COMPANY_NOT_FOUND, hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { companyName } from '../company-answer.ts';
import { departmentCounts, departmentCountsOf, inCompany } from './companies.ts';
import { answered, envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import type { DataServices } from './services.ts';

const COST = 2;

export const getCompany = route<DataServices>()({
  operation: 'getCompany',
  method: 'GET',
  path: '/v1/companies/:domain',
  decodesParams: true,
  summary: 'One company over all of its jobs',
  access: keyed('companies:read', COST),
  query: v.strictObject({}),
  answer: envelope(
    v.strictObject({
      company: companyName,
      active_job_count: count,
      closed_job_count: count,
      departments: departmentCounts,
      first_observed_at: v.nullable(dateTime),
      last_observed_at: v.nullable(dateTime),
    }),
  ),
  errors: [...SNAPSHOT_ERRORS, COMPANY_NOT_FOUND],
  examples: {
    params: { domain: EXAMPLE_COMPANY.domain },
    answer: {
      data: {
        company: EXAMPLE_COMPANY,
        active_job_count: 42,
        closed_job_count: 7,
        departments: [{ department: 'Engineering', active_job_count: 17 }],
        first_observed_at: EXAMPLE_FIRST_OBSERVED_AT,
        last_observed_at: EXAMPLE_OBSERVED_AT,
      },
      meta: exampleMeta(COST),
    },
  },
  ready: hasCatalogue,
  handle: (_, services, request) =>
    answered(services, request, (catalogue) =>
      inCompany(request.params.domain, (domain) => {
        const summary = companySummary(catalogue, domain);
        return (
          summary && {
            data: {
              company: summary.company,
              active_job_count: summary.activeJobCount,
              closed_job_count: summary.closedJobCount,
              departments: departmentCountsOf(summary.departments),
              first_observed_at: isoTimeOrNull(summary.firstObservedMs),
              last_observed_at: isoTimeOrNull(summary.lastObservedMs),
            },
            cost: COST,
          }
        );
      }),
    ),
});
