/** What the lists of the Jobs Data API share: cursors bound to their question, and pages of jobs and of events. */
import * as v from 'valibot';
import { parseCompanyDomain } from '../../catalogue/company-domain.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { jobRecords } from '../../catalogue/listing/job-records.ts';
import { listJobs } from '../../catalogue/listing/list-jobs.ts';
import type { HistoryPage, JobListFilters } from '../../catalogue/listing/listing-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RequestView } from '../../http/request-view.ts';
import { wholeNumber } from '../answer-values.ts';
import { jobRecord, jobRecordOf } from '../job-answer.ts';
import { badCursor, questionOf } from './cursors.ts';
import { answeredOnce, type Costing } from './envelope.ts';
import { PAGE_LIMIT_MAX } from './parameters.ts';
import { historyEvent, historyEventOf } from './records.ts';
import type { DataServices } from './services.ts';

/** The members of a page. */
export const page = {
  limit: wholeNumber(1, PAGE_LIMIT_MAX),
  next_cursor: v.nullable(v.string()),
};

/** How many records an answer has. */
export const returned = wholeNumber(0, PAGE_LIMIT_MAX);

/** Records of a page. */
export const listOf = <S extends v.GenericSchema>(record: S) => v.pipe(v.array(record), v.maxLength(PAGE_LIMIT_MAX));

export const jobsEntries = { jobs: listOf(jobRecord), returned_jobs: returned, ...page };
export const eventsEntries = { events: listOf(historyEvent), returned_events: returned, ...page };

interface PageInput {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The question of a request: its operation, its path's parameters and its filters, without the page. */
function questionIn(operation: string, input: PageInput, { params }: RequestView): string {
  const { cursor: _cursor, limit: _limit, ...filters } = input;
  const { domain } = params;
  // Domains compare in lower case, in a path as in a filter.
  const named = domain === undefined ? params : { ...params, domain: parseCompanyDomain(domain) ?? domain };
  return questionOf(operation, { ...filters, ...named });
}

/** A route's check of its cursor: one of another question, or a bent one, is refused before the rate and the question. */
export const checksCursor =
  (operation: string) =>
  (input: PageInput, { cursors }: DataServices, request: RequestView): Refusal<'INVALID_CURSOR'> | undefined => {
    const { cursor } = input;
    if (cursor === undefined) return undefined;
    const position = cursors.positionIn(questionIn(operation, input, request), cursor);
    return position === undefined ? badCursor() : undefined;
  };

/** A page as the engine gives it: the records for the answer, and where the next page begins. */
export interface Page<D> {
  readonly data: D;
  readonly recordCount: number;
  readonly next: Uint8Array | null;
}

/**
 * Answers with a page of a list, which costs one credit a record.
 * @param listAfter gives the page after a position; undefined where the bytes are none
 */
export function answerPage<D extends object, C extends string = never>(
  operation: string,
  input: PageInput,
  services: DataServices,
  served: ServedCatalogue,
  request: RequestView,
  listAfter: (after: Uint8Array | undefined) => Page<D> | Refusal<C> | undefined,
) {
  const { cursors } = services;
  const { cursor, limit } = input;
  const question = questionIn(operation, input, request);
  type Paged = D & { limit: number; next_cursor: string | null };
  const make = (): Costing<Paged> | Refusal<C | 'INVALID_CURSOR'> => {
    const listed = listAfter(cursor === undefined ? undefined : cursors.positionIn(question, cursor));
    if (listed === undefined) return badCursor();
    if (listed instanceof Refusal) return listed;
    const next = listed.next === null ? null : cursors.textOf(question, listed.next);
    return { data: { ...listed.data, limit, next_cursor: next }, cost: listed.recordCount };
  };
  return answeredOnce(services, served, request, `${question}\n${limit} ${cursor ?? ''}`, make);
}

/** A page of jobs. */
export function jobsPage(
  { catalogue }: ServedCatalogue,
  filters: JobListFilters,
  after: Uint8Array | undefined,
  limit: number,
): Page<{ jobs: v.InferInput<typeof jobRecord>[]; returned_jobs: number }> | undefined {
  const listed = listJobs(catalogue, filters, after, limit);
  if (listed === undefined) return undefined;
  const jobs = jobRecords(catalogue, listed.rows).map(jobRecordOf);
  return { data: { jobs, returned_jobs: jobs.length }, recordCount: jobs.length, next: listed.next };
}

/** A page of events. */
export function eventsPage(
  listed: HistoryPage | undefined,
): Page<{ events: v.InferInput<typeof historyEvent>[]; returned_events: number }> | undefined {
  if (listed === undefined) return undefined;
  const events = listed.events.map(historyEventOf);
  return { data: { events, returned_events: events.length }, recordCount: events.length, next: listed.next };
}
