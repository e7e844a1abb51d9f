/** GET /v1/jobs/{id}/history: the events of one job, oldest first, page by page. */
import * as v from 'valibot';
import { listJobHistory as listEvents } from '../../catalogue/listing/list-history.ts';
import { route } from '../../http/route.ts';
import { EXAMPLE_RECORD } from '../catalogue-examples.ts';
import { hasCatalogue, JOB_NOT_FOUND, noJob, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { INVALID_CURSOR } from './cursors.ts';
import { envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, eventsEntries, eventsPage, withMembers } from './lists.ts';
import { paging } from './parameters.ts';
import { EXAMPLE_EVENTS } from './records.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'listJobHistory';

export const listJobHistory = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/jobs/:id/history',
  decodesParams: true,
  summary: 'The history of one job, oldest first',
  description: 'When the job was first observed, what changed, when it closed and when it was observed again.',
  access: keyed('jobs:read', 'record'),
  query: v.strictObject(paging),
  answer: envelope(v.strictObject({ job_id: v.string(), ...eventsEntries })),
  errors: [...SNAPSHOT_ERRORS, JOB_NOT_FOUND, INVALID_CURSOR],
  examples: {
    params: { id: EXAMPLE_RECORD.id },
    query: { limit: 2 },
    answer: {
      data: {
        job_id: EXAMPLE_RECORD.id,
        events: EXAMPLE_EVENTS,
        returned_events: EXAMPLE_EVENTS.length,
        limit: 2,
        next_cursor: null,
      },
      meta: exampleMeta(EXAMPLE_EVENTS.length),
    },
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { id = '' } = request.params;
    return answerPage(OPERATION, input, services, request, (catalogue, after) => {
      const row = catalogue.snapshot.rowOf(id);
      if (row === undefined) return noJob();
      const listed = eventsPage(listEvents(catalogue, row, after, input.limit));
      return listed && withMembers({ job_id: id }, listed);
    });
  },
});
