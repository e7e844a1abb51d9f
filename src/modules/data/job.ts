/** GET /v1/jobs/{id}: one job, active or closed, with its description. */
import * as v from 'valibot';
import { jobDetail as findJob } from '../../catalogue/questions/detail.ts';
import { route } from '../../http/route.ts';
import { EXAMPLE_DETAIL } from '../catalogue-examples.ts';
import {
  CATALOGUE_UNAVAILABLE,
  hasCatalogue,
  JOB_NOT_FOUND,
  noJob,
  UPSTREAM_INVALID_RESPONSE,
} from '../catalogue-refusals.ts';
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
  errors: [CATALOGUE_UNAVAILABLE, JOB_NOT_FOUND, UPSTREAM_INVALID_RESPONSE],
  examples: {
    params: { id: EXAMPLE_DETAIL.id },
    answer: {
      data: {
        job: EXAMPLE_DETAIL,
      },
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
