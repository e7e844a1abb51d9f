/** Events as the Jobs Data API shows them (siblings §4): schema and wire form side by side. */
import * as v from 'valibot';
import { isoTime } from '../../base/iso-time.ts';
import type { ListedEvent } from '../../catalogue/listing/listing-answers.ts';
import { CHANGED_FIELDS, HISTORY_KINDS } from '../../catalogue/packed/history-event.ts';
import { dateTime } from '../answer-values.ts';
import { EXAMPLE_CLOSED_AT, EXAMPLE_COMPANY, EXAMPLE_FIRST_OBSERVED_AT, EXAMPLE_JOB } from '../catalogue-examples.ts';
import { companyName } from '../company-answer.ts';

const change = v.strictObject({
  field: v.picklist(CHANGED_FIELDS),
  previous: v.nullable(v.string()),
  current: v.nullable(v.string()),
});

export const historyEvent = v.strictObject({
  id: v.string(),
  job_id: v.string(),
  type: v.picklist(HISTORY_KINDS),
  observed_at: dateTime,
  title: v.string(),
  company: companyName,
  changes: v.array(change),
});

export const historyEventOf = (event: ListedEvent): v.InferInput<typeof historyEvent> => ({
  id: event.id,
  job_id: event.jobId,
  type: event.kind,
  observed_at: isoTime(event.observedMs),
  title: event.title,
  company: { name: event.company.name, domain: event.company.domain },
  changes: event.changes.map(({ field, previous, current }) => ({ field, previous, current })),
});

export const EXAMPLE_EVENTS: v.InferInput<typeof historyEvent>[] = [
  {
    id: 'ev_41',
    job_id: EXAMPLE_JOB.id,
    type: 'first_observed',
    observed_at: EXAMPLE_FIRST_OBSERVED_AT,
    title: 'Data Engineer',
    company: EXAMPLE_COMPANY,
    changes: [],
  },
  {
    id: 'ev_977',
    job_id: EXAMPLE_JOB.id,
    type: 'changed',
    observed_at: EXAMPLE_CLOSED_AT,
    title: EXAMPLE_JOB.title,
    company: EXAMPLE_COMPANY,
    changes: [{ field: 'title', previous: 'Data Engineer', current: EXAMPLE_JOB.title }],
  },
];
