/** GET /v1/jobs: every job, or those of a company, page by page. */
import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { companyDomain } from '../catalogue-parameters.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { INVALID_CURSOR } from './cursors.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, EXAMPLE_JOBS, jobsAnswer, jobsPage } from './lists.ts';
import { ofJobs, paging } from './parameters.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'listJobs';

export const listAllJobs = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/jobs',
  summary: 'List jobs, most recently observed first',
  description: 'Page by page through the whole catalogue, or through the jobs of one company.',
  access: keyed('jobs:read', 'record'),
  query: v.strictObject({ company: v.optional(companyDomain), ...ofJobs, ...paging }),
  answer: jobsAnswer,
  errors: [...SNAPSHOT_ERRORS, INVALID_CURSOR],
  examples: {
    query: { status: 'any', observed_since: '2026-11-01', limit: 1 },
    answer: EXAMPLE_JOBS,
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { company, status, observed_since: observedSinceMs, limit } = input;
    const filters = { company, status, observedSinceMs };
    return answerPage(OPERATION, input, services, request, (catalogue, after) =>
      jobsPage(catalogue, filters, after, limit),
    );
  },
});
