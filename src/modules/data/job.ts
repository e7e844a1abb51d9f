/** GET /v1/jobs/{id}: one job, active or closed, with its description. */
import * as v from 'valibot';
import { jobDetail as findJob } from '../../catalogue/questions/detail.ts';
import { route } from '../../http/route.ts';
import { EXAMPLE_DETAIL } from '../catalogue-examples.ts';
import { hasCatalogue, JOB_NOT_FOUND, noJob, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { jobDetail, jobDetailOf } from '../job-answer.ts';
import { answered, envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import type { DataServices } from './services.ts';

const COST = 1;

export const getJob = route<DataServices>()({
  operation: 'getJob',
  method: 'GET',
  path: '/v1/jobs/:id',
  decodesParams: true,
  summary: 'One job with its description',
  description: 'The job with an id that another answer stated, active or closed.',
  access: keyed('jobs:read', COST),
  query: v.strictObject({}),
  answer: envelope(v.strictObject({ job: jobDetail })),
  errors: [...SNAPSHOT_ERRORS, JOB_NOT_FOUND],
  examples: {
    params: { id: EXAMPLE_DETAIL.id },
    answer: {
      data: { job: EXAMPLE_DETAIL },
      meta: exampleMeta(COST),
    },
  },
  ready: hasCatalogue,
  handle: (_, services, request) =>
    answered(services, request, (catalogue) => {
      const found = findJob(catalogue, request.params.id ?? '');
      return found === undefined ? noJob() : { data: { job: jobDetailOf(found) }, cost: COST };
    }),
});
