/** GET /v1/jobs/search: up to ten observed jobs, newest observation first. */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { search } from '../../catalogue/questions/search.ts';
import { route } from '../../http/route.ts';
import { periodEndingAt } from '../answer-period.ts';
import { wholeNumber } from '../answer-values.ts';
import { EXAMPLE_JOB } from '../catalogue-examples.ts';
import { companyDomain, employmentType, keyword, location } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, hasReadableCatalogue } from '../catalogue-refusals.ts';
import { job, jobOf } from '../job-answer.ts';
import { boolean, integer } from '../parameter-rules.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

const RESULT_COUNT_MAX = 10;

const searchData = v.pipe(
  v.strictObject({
    jobs: v.pipe(v.array(job), v.maxLength(RESULT_COUNT_MAX)),
    returned_jobs: wholeNumber(0, RESULT_COUNT_MAX),
    limit: wholeNumber(1, RESULT_COUNT_MAX),
  }),
  v.check(({ jobs, returned_jobs, limit }) => returned_jobs === jobs.length && returned_jobs <= limit),
);

export const searchJobs = route<JobsServices>()({
  operation: 'searchJobs',
  method: 'GET',
  path: '/v1/jobs/search',
  summary: 'Search up to 10 observed jobs',
  description:
    'Active jobs of the monitored catalogue that match every filter, most recently observed first. Where none matches, also for ' +
    'a company that is not in the catalogue, the answer is an empty list, and is paid for.',
  access: [perClient, unlessOverloaded, paid('0.02', 'search')],
  query: v.strictObject({
    keyword: v.optional(keyword),
    location: v.optional(location),
    company: v.optional(companyDomain),
    remote: v.optional(boolean),
    employment_type: v.optional(employmentType),
    limit: v.optional(integer(1, RESULT_COUNT_MAX), RESULT_COUNT_MAX),
  }),
  answer: envelope(searchData),
  errors: CATALOGUE_ERRORS,
  examples: {
    query: { keyword: 'data engineer', remote: true, limit: 3 },
    answer: {
      data: { jobs: [EXAMPLE_JOB], returned_jobs: 1, limit: 3 },
      meta: exampleMeta('monitored catalogue', 4210, { basis: 'matching jobs' }),
    },
  },
  ready: hasReadableCatalogue,
  handle(input, { catalogue, clock }) {
    return askServed(catalogue, (served) => {
      const { keyword, location, company, remote, employment_type, limit } = input;
      const filters = { keyword, location, company, remote, employmentType: employment_type };
      const found = search(served.catalogue, filters, limit);
      return {
        data: { jobs: found.jobs.map(jobOf), returned_jobs: found.jobs.length, limit },
        meta: metaOf(served, found.coverage, periodEndingAt(clock.nowMs())),
      };
    });
  },
});
