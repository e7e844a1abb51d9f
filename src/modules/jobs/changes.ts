/** GET /v1/jobs/changes: jobs first observed, and jobs no longer observed, in seven days (siblings §2). */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { COHORT_ROWS_MAX } from '../../catalogue/limits.ts';
import { changes } from '../../catalogue/questions/changes.ts';
import { observationPeriodEndingAt } from '../../catalogue/questions/period.ts';
import { route } from '../../http/route.ts';
import { observationPeriod, periodOf } from '../answer-period.ts';
import { count, wholeNumber } from '../answer-values.ts';
import { EXAMPLE_CLOSED_AT, EXAMPLE_COMPANY, EXAMPLE_JOB, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { cohortFilters, companyDomain, period } from '../catalogue-parameters.ts';
import {
  askServed,
  CATALOGUE_ERRORS,
  COMPANY_NOT_FOUND,
  hasReadableCatalogue,
  noCompany,
} from '../catalogue-refusals.ts';
import { closedJob, closedJobOf, job, jobOf } from '../job-answer.ts';
import { integer } from '../parameter-rules.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

const RESULT_COUNT_MAX = 10;

const changesData = v.strictObject({
  first_observed: v.pipe(v.array(job), v.maxLength(RESULT_COUNT_MAX)),
  no_longer_observed: v.pipe(v.array(closedJob), v.maxLength(RESULT_COUNT_MAX)),
  first_observed_jobs: v.nullable(count),
  no_longer_observed_jobs: v.nullable(count),
  observation_period: observationPeriod,
  limit: wholeNumber(1, RESULT_COUNT_MAX),
});

/** `meta.methodology.historical_changes` of this route. */
const HISTORY =
  'first observed: active jobs of the cohort whose first observation lies in the period, which are all jobs of a board that ' +
  'is followed for less than that, however old they are; no longer observed: jobs whose recorded closing lies in the ' +
  `period, the ${COHORT_ROWS_MAX} newest closings at most`;

export const listChanges = route<JobsServices>()({
  operation: 'listChanges',
  method: 'GET',
  path: '/v1/jobs/changes',
  summary: 'List jobs first observed and jobs no longer observed in seven days',
  description:
    'Up to ten of each, newest first. A job that is no longer observed does not prove a hire. For a company that is not in ' +
    'the catalogue the answer to a valid payment is 404, and nothing is charged.',
  access: [perClient, unlessOverloaded, paid('0.05', 'changes')],
  query: v.strictObject({
    company: v.optional(companyDomain),
    ...cohortFilters,
    period: v.optional(period, '7d'),
    limit: v.optional(integer(1, RESULT_COUNT_MAX), RESULT_COUNT_MAX),
  }),
  answer: envelope(changesData),
  errors: [...CATALOGUE_ERRORS, COMPANY_NOT_FOUND],
  examples: {
    query: { role: 'data engineer', limit: 3 },
    answer: {
      data: {
        first_observed: [EXAMPLE_JOB],
        no_longer_observed: [
          {
            id: 'ashby:example:51c0',
            title: 'Data Engineer',
            company: EXAMPLE_COMPANY.name,
            company_domain: EXAMPLE_COMPANY.domain,
            last_observed_at: EXAMPLE_CLOSED_AT,
            closed_at: EXAMPLE_CLOSED_AT,
          },
        ],
        first_observed_jobs: 1,
        no_longer_observed_jobs: 1,
        observation_period: EXAMPLE_PERIOD,
        limit: 3,
      },
      meta: exampleMeta('monitored catalogue', 4210, { history: HISTORY }),
    },
  },
  ready: hasReadableCatalogue,
  handle(input, { catalogue, clock }) {
    return askServed(catalogue, (served) => {
      const { company, role, location, department, limit } = input;
      const observed = observationPeriodEndingAt(clock.nowMs());
      const filters = { role, location, department };
      const found = changes(served.catalogue, company, filters, limit, observed);
      if (found === undefined) return noCompany(company!);
      const stated = periodOf(observed);
      return {
        data: {
          first_observed: found.firstObserved.map(jobOf),
          no_longer_observed: found.noLongerObserved.map(closedJobOf),
          first_observed_jobs: found.firstObservedJobs,
          no_longer_observed_jobs: found.noLongerObservedJobs,
          observation_period: stated,
          limit,
        },
        meta: metaOf(served, found.cohort, stated, HISTORY),
      };
    });
  },
});
