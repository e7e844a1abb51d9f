/** GET /v1/jobs/signals: up to five companies with evidence of hiring activity. */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { isoTimeOrNull } from '../../base/iso-time.ts';
import type { CohortFilters } from '../../catalogue/questions/cohort-rows.ts';
import { signals } from '../../catalogue/questions/signals.ts';
import { route } from '../../http/route.ts';
import { observationPeriod } from '../answer-period.ts';
import { count, dateTime, wholeNumber } from '../answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_OBSERVED_AT, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { cohortFilters, period } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, hasCatalogue } from '../catalogue-refusals.ts';
import { companyName } from '../company-answer.ts';
import { integer } from '../parameter-rules.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

const COMPANY_COUNT_MAX = 5;

const signal = v.strictObject({
  company: companyName,
  active_jobs: v.nullable(count),
  observed_sample_jobs: count,
  recently_observed_jobs: count,
  hiring_activity_score: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  supporting_evidence: v.strictObject({
    criterion: v.string(),
    first_observed_jobs: count,
    matching_sample_jobs: count,
    scope: v.string(),
  }),
  last_observed_at: v.nullable(dateTime),
  observation_period: observationPeriod,
});

const signalsData = v.pipe(
  v.strictObject({
    companies: v.pipe(v.array(signal), v.maxLength(COMPANY_COUNT_MAX)),
    returned_companies: wholeNumber(0, COMPANY_COUNT_MAX),
    limit: wholeNumber(1, COMPANY_COUNT_MAX),
    matching_active_jobs: v.nullable(count),
    observed_sample_jobs: count,
  }),
  v.check(
    ({ companies, returned_companies, limit }) =>
      returned_companies === companies.length && returned_companies <= limit,
  ),
);

const EVIDENCE_SCOPE = 'candidate cohort of the monitored catalogue';

/** Describes the condition under which a job counts. */
function criterionOf({ role, location, department }: CohortFilters): string {
  const parts = [
    role === undefined ? undefined : `title contains every term of ${JSON.stringify(role)}`,
    location === undefined ? undefined : `location contains every term of ${JSON.stringify(location)}`,
    department === undefined ? undefined : `department is ${JSON.stringify(department)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'active jobs, no filter' : `active jobs whose ${parts.join(' and ')}`;
}

export const findSignals = route<JobsServices>()({
  operation: 'findSignals',
  method: 'GET',
  path: '/v1/jobs/signals',
  summary: 'Find up to 5 companies with evidence of hiring activity',
  description:
    'Companies with active jobs that match every filter; companies with the most recently observed jobs come first.',
  access: [perClient, unlessOverloaded, paid('0.09', 'signals')],
  query: v.strictObject({
    ...cohortFilters,
    period: v.optional(period, '7d'),
    limit: v.optional(integer(1, COMPANY_COUNT_MAX), COMPANY_COUNT_MAX),
  }),
  answer: envelope(signalsData),
  errors: CATALOGUE_ERRORS,
  examples: {
    query: { role: 'data engineer', limit: 3 },
    answer: {
      data: {
        companies: [
          {
            company: EXAMPLE_COMPANY,
            active_jobs: 3,
            observed_sample_jobs: 3,
            recently_observed_jobs: 2,
            hiring_activity_score: 66.67,
            supporting_evidence: {
              criterion: criterionOf({ role: 'data engineer' }),
              first_observed_jobs: 1,
              matching_sample_jobs: 3,
              scope: EVIDENCE_SCOPE,
            },
            last_observed_at: EXAMPLE_OBSERVED_AT,
            observation_period: EXAMPLE_PERIOD,
          },
        ],
        returned_companies: 1,
        limit: 3,
        matching_active_jobs: 3,
        observed_sample_jobs: 3,
      },
      meta: exampleMeta('monitored catalogue', 4210),
    },
  },
  ready: hasCatalogue,
  handle(input, { catalogue, clock, memo }) {
    return askServed(catalogue, (served) => {
      const { role, location, department, limit } = input;
      return memo.answer(served, clock.nowMs(), ['signals', role, location, department, limit], (observed) => {
        const filters = { role, location, department };
        const found = signals(served.catalogue, filters, limit, observed);
        const criterion = criterionOf(filters);
        return (period) => ({
          data: {
            companies: found.companies.map((entry) => ({
              company: entry.company,
              active_jobs: entry.activeJobs,
              observed_sample_jobs: entry.observedSampleJobs,
              recently_observed_jobs: entry.recentlyObservedJobs,
              hiring_activity_score: entry.score,
              supporting_evidence: {
                criterion,
                first_observed_jobs: entry.firstObservedJobs,
                matching_sample_jobs: entry.observedSampleJobs,
                scope: EVIDENCE_SCOPE,
              },
              last_observed_at: isoTimeOrNull(entry.lastObservedMs),
              observation_period: period,
            })),
            returned_companies: found.companies.length,
            limit,
            matching_active_jobs: found.matchingActiveJobs,
            observed_sample_jobs: found.observedSampleJobs,
          },
          meta: metaOf(served, found.cohort, period),
        });
      });
    });
  },
});
