/** GET /v1/history: all events of all jobs, in the order of their recording; a client can follow this feed indefinitely. */
import * as v from 'valibot';
import { listHistory } from '../../catalogue/listing/list-history.ts';
import { HISTORY_KINDS } from '../../catalogue/packed/history-event.ts';
import { route } from '../../http/route.ts';
import { companyDomain } from '../catalogue-parameters.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { moment, oneOf } from '../parameter-rules.ts';
import { INVALID_CURSOR } from './cursors.ts';
import { envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, eventsEntries, eventsPage } from './lists.ts';
import { paging } from './parameters.ts';
import { EXAMPLE_EVENTS } from './records.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'listHistory';

export const followHistory = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/history',
  summary: 'The feed of all events, in the order in which they were recorded',
  description:
    'Append-only. Without `until` the last page has a `next_cursor` too: keep it, and the same request with it gives exactly ' +
    'what came since, also after the catalogue was loaded again; such a page may be empty and then costs nothing.',
  access: keyed('jobs:read', 'record'),
  query: v.strictObject({
    since: v.optional(moment),
    until: v.optional(moment),
    type: v.optional(oneOf(HISTORY_KINDS)),
    company: v.optional(companyDomain),
    ...paging,
  }),
  answer: envelope(v.strictObject(eventsEntries)),
  errors: [...SNAPSHOT_ERRORS, INVALID_CURSOR],
  examples: {
    query: { since: '2026-10-01', limit: 2 },
    answer: {
      data: {
        events: EXAMPLE_EVENTS,
        returned_events: EXAMPLE_EVENTS.length,
        limit: 2,
        next_cursor: 'b1x3pQKfY0mQq4rWc1dQ3gAAA9E',
      },
      meta: exampleMeta(EXAMPLE_EVENTS.length),
    },
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { since: sinceMs, until: untilMs, type: kind, company, limit } = input;
    return answerPage(OPERATION, input, services, request, (catalogue, after) =>
      eventsPage(listHistory(catalogue, { sinceMs, untilMs, kind, company }, after, limit)),
    );
  },
});
