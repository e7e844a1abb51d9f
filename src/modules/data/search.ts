/** GET /v1/jobs/search: jobs of the whole catalogue that match every filter, page by page. */
import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { companyDomain, department, employmentType, keyword, location } from '../catalogue-parameters.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { boolean } from '../parameter-rules.ts';
import { INVALID_CURSOR } from './cursors.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, EXAMPLE_JOBS, jobsAnswer, jobsPage } from './lists.ts';
import { ofJobs, paging, skill } from './parameters.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'searchJobs';

export const searchJobs = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/jobs/search',
  summary: 'Search jobs of the whole catalogue',
  description:
    'Jobs that match every filter, most recently observed first, page by page: `next_cursor` of an answer is the `cursor` of the ' +
    'next request with the same filters, and null after the last page.',
  access: keyed('jobs:read', 'record'),
  query: v.strictObject({
    keyword: v.optional(keyword),
    location: v.optional(location),
    company: v.optional(companyDomain),
    remote: v.optional(boolean),
    employment_type: v.optional(employmentType),
    department: v.optional(department),
    skill: v.optional(skill),
    ...ofJobs,
    ...paging,
  }),
  answer: jobsAnswer,
  errors: [...SNAPSHOT_ERRORS, INVALID_CURSOR],
  examples: {
    query: { keyword: 'data engineer', remote: true, limit: 1 },
    answer: EXAMPLE_JOBS,
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { employment_type: employmentType, observed_since: observedSinceMs, cursor: _, limit, ...others } = input;
    const filters = { ...others, employmentType, observedSinceMs };
    return answerPage(OPERATION, input, services, request, (catalogue, after) =>
      jobsPage(catalogue, filters, after, limit),
    );
  },
});
