/** GET /v1/jobs/detail: one observed job, active or closed, with its description (siblings §2). */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import type { JobFacts } from '../../catalogue/cohort.ts';
import { isStated } from '../../catalogue/domain-evidence.ts';
import type { Job } from '../../catalogue/job.ts';
import { jobDetail as findJob } from '../../catalogue/questions/detail.ts';
import { route } from '../../http/route.ts';
import { periodEndingAt } from '../answer-period.ts';
import { EXAMPLE_DETAIL } from '../catalogue-examples.ts';
import { jobId } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, hasReadableCatalogue, JOB_NOT_FOUND, noJob } from '../catalogue-refusals.ts';
import { jobDetail, jobDetailOf } from '../job-answer.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

/** One job is its own cohort. */
const factsOf = ({ companyDomainEvidence: evidence, lastObservedMs }: Job): JobFacts => ({
  scope: 'monitored catalogue',
  basis: 'one job',
  sampled: false,
  candidateJobs: 1,
  assignedDomainJobs: evidence === undefined || evidence === null || isStated(evidence) ? 0 : 1,
  newestObservedMs: lastObservedMs,
  oldestObservedMs: lastObservedMs,
});

/** `meta.methodology.historical_changes` of this route: the job may be closed. */
const HISTORY = 'not part of this answer: it describes one job as it was last recorded';

export const getJob = route<JobsServices>()({
  operation: 'getJob',
  method: 'GET',
  path: '/v1/jobs/detail',
  summary: 'One observed job with its description',
  description:
    'The job with an id that another answer stated, active or closed. For an id that is not in the catalogue the answer to a ' +
    'valid payment is 404, and nothing is charged.',
  access: [perClient, unlessOverloaded, paid('0.02', 'detail')],
  query: v.strictObject({ id: jobId }),
  answer: envelope(v.strictObject({ job: jobDetail })),
  errors: [...CATALOGUE_ERRORS, JOB_NOT_FOUND],
  examples: {
    query: { id: EXAMPLE_DETAIL.id },
    answer: {
      data: { job: EXAMPLE_DETAIL },
      meta: exampleMeta('monitored catalogue', 1, { basis: 'one job', history: HISTORY }),
    },
  },
  ready: hasReadableCatalogue,
  handle(input, { catalogue, clock }) {
    return askServed(catalogue, (served) => {
      const found = findJob(served.catalogue, input.id);
      if (found === undefined) return noJob();
      return {
        data: { job: jobDetailOf(found) },
        meta: metaOf(served, factsOf(found), periodEndingAt(clock.nowMs()), HISTORY),
      };
    });
  },
});
