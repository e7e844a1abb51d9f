/** What the lists of the Jobs Data API share: cursors bound to their question, and pages of jobs and of events. */
import * as v from 'valibot';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { parseCompanyDomain } from '../../catalogue/company-domain.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { listJobs } from '../../catalogue/listing/list-jobs.ts';
import type { HistoryPage, JobListFilters } from '../../catalogue/listing/listing-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RequestView } from '../../http/request-view.ts';
import { wholeNumber } from '../answer-values.ts';
import { EXAMPLE_RECORD } from '../catalogue-examples.ts';
import { jobRecord } from '../job-answer.ts';
import { badCursor, type Question, questionOf } from './cursors.ts';
import { answeredOnce, envelope, exampleMeta } from './envelope.ts';
import { type DataText, dataText } from './pages-memo.ts';
import { PAGE_LIMIT_MAX } from './parameters.ts';
import { historyEvent, historyEventOf } from './records.ts';
import { recordTextsOf } from './records-text.ts';
import type { DataServices } from './services.ts';

/** The members of a page. */
export const page = {
  limit: wholeNumber(1, PAGE_LIMIT_MAX),
  next_cursor: v.nullable(v.string()),
};

/** The number of records in an answer. */
export const returned = wholeNumber(0, PAGE_LIMIT_MAX);

/** The records of a page. */
export const listOf = <S extends v.GenericSchema>(record: S) => v.pipe(v.array(record), v.maxLength(PAGE_LIMIT_MAX));

export const jobsEntries = { jobs: listOf(jobRecord), returned_jobs: returned, ...page };
/** An answer that is a page of jobs, and an example of one. */
export const jobsAnswer = envelope(v.strictObject(jobsEntries));
export const EXAMPLE_JOBS = {
  data: { jobs: [EXAMPLE_RECORD], returned_jobs: 1, limit: 1, next_cursor: null },
  meta: exampleMeta(1),
};

export const eventsEntries = { events: listOf(historyEvent), returned_events: returned, ...page };

interface PageInput {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/**
 * The last question, memoized: a request needs it for its check and again for its answer, in the same turn, and a repeated
 * query has the same decoded input. An input belongs to one operation.
 */
let last:
  | { readonly input: PageInput; readonly params: RequestView['params']; readonly question: Question }
  | undefined;

/** The question of a request: its operation, its path's parameters and its filters, without the page. */
function questionIn(operation: string, input: PageInput, { params }: RequestView): Question {
  if (last?.input === input && last.params === params) return last.question;
  const { domain } = params;
  // Domains compare in lower case, in a path as in a filter.
  const named = domain === undefined ? params : { ...params, domain: parseCompanyDomain(domain) ?? domain };
  const question = questionOf(operation, input, named);
  last = { input, params, question };
  return question;
}

/** A route's check of its cursor: one of another question, or an altered one, is refused before the rate and the question. */
export const checksCursor =
  (operation: string) =>
  (input: PageInput, { cursors }: DataServices, request: RequestView): Refusal<'INVALID_CURSOR'> | undefined => {
    const { cursor } = input;
    if (cursor === undefined) return undefined;
    const position = cursors.positionIn(questionIn(operation, input, request), cursor);
    return position === undefined ? badCursor() : undefined;
  };

/** Members of an answer's `data` as JSON text, without the braces around them. */
export type MembersText<D> = string & { readonly shape?: D };

export const membersOf = <D extends object>(data: D): MembersText<D> => JSON.stringify(data).slice(1, -1);

/** A page from the engine: the records for the answer, and where the next page begins. */
export interface Page<D> {
  readonly members: MembersText<D>;
  readonly recordCount: number;
  readonly next: Uint8Array | null;
}

/** A page with other members before its own. */
export const withMembers = <M extends object, D>(more: M, page: Page<D>): Page<M & D> => ({
  ...page,
  members: `${membersOf(more)},${page.members}`,
});

/**
 * Answers with a page of a list, which costs one credit a record.
 * @param listAfter gives the page after a position; undefined when the bytes are not a position
 */
export function answerPage<D extends object, C extends string = never>(
  operation: string,
  input: PageInput,
  services: DataServices,
  request: RequestView,
  listAfter: (catalogue: Catalogue, after: Uint8Array | undefined) => Page<D> | Refusal<C> | undefined,
) {
  const { cursors } = services;
  const { cursor, limit } = input;
  const question = questionIn(operation, input, request);
  const make = ({ catalogue }: ServedCatalogue): DataText | Refusal<C | 'INVALID_CURSOR'> => {
    const listed = listAfter(catalogue, cursor === undefined ? undefined : cursors.positionIn(question, cursor));
    if (listed === undefined) return badCursor();
    if (listed instanceof Refusal) return listed;
    const next = listed.next === null ? 'null' : `"${cursors.textOf(question, listed.next)}"`;
    return dataText(`{${listed.members},"limit":${limit},"next_cursor":${next}}`, listed.recordCount);
  };
  type Paged = D & { limit: number; next_cursor: string | null };
  const asked = `${question}\n${limit} ${cursor ?? ''}`;
  return answeredOnce<Paged, C | 'INVALID_CURSOR'>(services, request, asked, make);
}

/** A page of jobs. */
export function jobsPage(
  catalogue: Catalogue,
  filters: JobListFilters,
  after: Uint8Array | undefined,
  limit: number,
): Page<{ jobs: v.InferInput<typeof jobRecord>[]; returned_jobs: number }> | undefined {
  const recordTexts = recordTextsOf(catalogue.snapshot);
  const listed = listJobs(catalogue, filters, after, limit, recordTexts.has);
  if (listed === undefined) return undefined;
  const { next, rows } = listed;
  const records = recordTexts.textOf(listed);
  return { members: `"jobs":[${records}],"returned_jobs":${rows.length}`, recordCount: rows.length, next };
}

/** A page of events. */
export function eventsPage(
  listed: HistoryPage | undefined,
): Page<{ events: v.InferInput<typeof historyEvent>[]; returned_events: number }> | undefined {
  if (listed === undefined) return undefined;
  const events = listed.events.map(historyEventOf);
  const members = membersOf({ events, returned_events: events.length });
  return { members, recordCount: events.length, next: listed.next };
}
