/** GET /v1/jobs/market: kinds and locations of the matching jobs of the catalogue (siblings §2). */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../../catalogue/job.ts';
import { TOP_ENTRIES_MAX } from '../../catalogue/limits.ts';
import { market } from '../../catalogue/questions/market.ts';
import { route } from '../../http/route.ts';
import { count } from '../answer-values.ts';
import { cohortFilters, period } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, hasCatalogue } from '../catalogue-refusals.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

const marketData = v.strictObject({
  matching_active_jobs: v.nullable(count),
  observed_sample_jobs: count,
  companies_in_sample: count,
  recently_observed_jobs: count,
  first_observed_jobs: count,
  by_department: v.pipe(
    v.array(v.strictObject({ department: v.string(), observed_job_count: count })),
    v.maxLength(TOP_ENTRIES_MAX),
  ),
  by_location: v.pipe(
    v.array(v.strictObject({ location: v.string(), observed_job_count: count })),
    v.maxLength(TOP_ENTRIES_MAX),
  ),
  by_remote_status: v.pipe(
    v.array(v.strictObject({ remote_status: v.picklist(REMOTE_STATUSES), observed_job_count: count })),
    v.length(REMOTE_STATUSES.length),
    v.check((counts) => counts.every(({ remote_status }, i) => remote_status === REMOTE_STATUSES[i])),
  ),
  by_employment_type: v.pipe(
    v.array(v.strictObject({ employment_type: v.picklist(EMPLOYMENT_TYPES), observed_job_count: count })),
    v.length(EMPLOYMENT_TYPES.length),
    v.check((counts) => counts.every(({ employment_type }, i) => employment_type === EMPLOYMENT_TYPES[i])),
  ),
});

const EXAMPLE_BY_REMOTE_STATUS = { remote: 61, hybrid: 74, on_site: 35, unknown: 44 } as const;
const EXAMPLE_BY_EMPLOYMENT_TYPE = { full_time: 190, contract: 9, internship: 15 } as const;

export const describeMarket = route<JobsServices>()({
  operation: 'describeMarket',
  method: 'GET',
  path: '/v1/jobs/market',
  summary: 'Describe the matching jobs: departments, places, workplace and employment types',
  description:
    'Counts over the most recently observed active jobs of the catalogue that match every filter. Spellings of a department ' +
    'or place that compare as equal are one entry, shown as on its newest job.',
  access: [perClient, unlessOverloaded, paid('0.09', 'market')],
  query: v.strictObject({ ...cohortFilters, period: v.optional(period, '7d') }),
  answer: envelope(marketData),
  errors: CATALOGUE_ERRORS,
  examples: {
    query: { role: 'data engineer' },
    answer: {
      data: {
        matching_active_jobs: 214,
        observed_sample_jobs: 214,
        companies_in_sample: 96,
        recently_observed_jobs: 180,
        first_observed_jobs: 31,
        by_department: [{ department: 'Engineering', observed_job_count: 120 }],
        by_location: [{ location: 'Berlin, Germany', observed_job_count: 40 }],
        by_remote_status: REMOTE_STATUSES.map((remote_status) => ({
          remote_status,
          observed_job_count: EXAMPLE_BY_REMOTE_STATUS[remote_status],
        })),
        by_employment_type: EMPLOYMENT_TYPES.map((employment_type) => ({
          employment_type,
          observed_job_count: { part_time: 0, temporary: 0, unknown: 0, ...EXAMPLE_BY_EMPLOYMENT_TYPE }[
            employment_type
          ],
        })),
      },
      meta: exampleMeta('monitored catalogue', 4210),
    },
  },
  ready: hasCatalogue,
  handle(input, { catalogue, clock, memo }) {
    return askServed(catalogue, (served) => {
      const { role, location, department } = input;
      return memo.answer(served, clock.nowMs(), ['market', role, location, department], (observed) => {
        const found = market(served.catalogue, { role, location, department }, observed);
        return (stated) => ({
          data: {
            matching_active_jobs: found.matchingActiveJobs,
            observed_sample_jobs: found.observedSampleJobs,
            companies_in_sample: found.companiesInSample,
            recently_observed_jobs: found.recentlyObservedJobs,
            first_observed_jobs: found.firstObservedJobs,
            by_department: found.byDepartment.map(({ department: shown, jobCount }) => ({
              department: shown,
              observed_job_count: jobCount,
            })),
            by_location: found.byLocation.map(({ location: shown, jobCount }) => ({
              location: shown,
              observed_job_count: jobCount,
            })),
            by_remote_status: found.byRemoteStatus.map(({ remoteStatus, jobCount }) => ({
              remote_status: remoteStatus,
              observed_job_count: jobCount,
            })),
            by_employment_type: found.byEmploymentType.map(({ employmentType, jobCount }) => ({
              employment_type: employmentType,
              observed_job_count: jobCount,
            })),
          },
          meta: metaOf(served, found.cohort, stated),
        });
      });
    });
  },
});
