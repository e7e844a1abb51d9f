/**
 * Greenhouse, the public job-board API (boards-api.greenhouse.io/v1/boards/<token>/jobs), in the forms in which people store it:
 * {"jobs": [...], "meta": {"total"}}, with `?content=true` also departments, offices and `content`; wrapped as {company,
 * fetched_at, job_count, jobs}; one posting alone; and flattened into rows by aggregators, with `company_slug` and the
 * location as text.
 *
 * id                 `greenhouse:<token>:<id>`. The token is the aggregator's or wrapper's, else the first part of the path on
 *                    a host of Greenhouse, else the company's name as a token: the plain form of a board on the company's
 *                    own site names no token, and a file's name changes from day to day
 * company, domain    command line, manifest, `company_name`, token; no domain
 * location           `location.name`; where that is blank, the names of `offices`
 * department         `departments[].name`
 * remote, employment fields of `metadata` with a name for it (WORKPLACE_FIELDS, EMPLOYMENT_FIELDS), which may have a list
 *                    of values; locations say "Remote" too, but that is free text
 * first, last        `first_published`, the observation; `updated_at` is the time of an edit and says neither
 */
import { objectOf } from '../../base/json-value.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import { firstText, htmlOf, listOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { boardOf, boardOfFileName } from './board.ts';
import { type Drafted, defineShape, refusal } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { slugOf } from './job-id.ts';
import { joinedPlaces } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'greenhouse';

/** Names of custom fields, in lower case, without a trailing note in brackets. The tables translate their values. */
const EMPLOYMENT_FIELDS: ReadonlySet<string> = new Set([
  'employment type',
  'employment length',
  'employment type wurk',
  'full-time or part-time',
  'job type',
  'th: employment type',
  'time type',
  'time type - do not change',
  'type of employment',
  'worker type',
]);
const WORKPLACE_FIELDS: ReadonlySet<string> = new Set([
  'ability to work remote',
  'location type',
  'rapp/all - workplace type',
  'remote eligibility',
  'remote option',
  'remote options',
  'remote type',
  'work location type',
  'workplace',
  'workplace type',
]);
/** Fields that answer yes or no. */
const REMOTE_FLAGS: ReadonlySet<string> = new Set(['is remote?', 'remote', 'remote job', 'remote worker', 'remote?']);

function fieldName(value: unknown): string {
  return (textOf(value) ?? '').toLowerCase().replace(/ \([^()]*\)$/, '');
}

interface Custom {
  readonly employment: EmploymentType;
  readonly remote: RemoteStatus;
}

function customOf(metadata: unknown): Custom {
  let employment: EmploymentType = 'unknown';
  let remote: RemoteStatus = 'unknown';
  for (const item of listOf(metadata)) {
    const field = objectOf(item);
    const values = listOf(field?.value);
    if (values.length === 0) continue;
    const name = fieldName(field?.name);
    if (employment === 'unknown' && EMPLOYMENT_FIELDS.has(name)) employment = employmentTypeOf(...values.map(textOf));
    if (remote !== 'unknown' || values.length > 1) continue;
    const [value] = values;
    if (WORKPLACE_FIELDS.has(name)) remote = workplaceOf(textOf(value));
    // A flag that is false may mean on site or hybrid.
    else if (REMOTE_FLAGS.has(name)) remote = value === true ? 'remote' : workplaceOf(textOf(value));
  }
  return { employment, remote };
}

const HOST = /^(?:(?:job-)?boards|app)(?:\.eu)?\.greenhouse\.io$/;

/** The token in an address on Greenhouse's own hosts; embedded boards have it as `for`. */
function tokenOfUrl(text: string | null): string | null {
  const url = text?.includes('greenhouse.io') ? URL.parse(text) : null;
  if (url === null || !HOST.test(url.hostname)) return null;
  const first = url.pathname.split('/')[1] ?? '';
  const token = first === 'embed' || first === '' ? url.searchParams.get('for') : first;
  return token?.trim().toLowerCase() || null;
}

function locationOf(job: SourceRecord): string | null {
  const named = textOf(objectOf(job.location)?.name ?? job.location);
  if (named !== null) return named;
  return joinedPlaces(listOf(job.offices).map((office) => textOf(objectOf(office)?.name ?? office)));
}

function draftOf(job: SourceRecord, context: ShapeContext): Drafted {
  const url = urlOf(job.absolute_url ?? job.url);
  const said = firstText(job.company_name, job.company);
  const wrapper = context.envelope;
  const token =
    context.token ??
    textOf(job.company_slug ?? job.board_token)?.toLowerCase() ??
    wrapper?.board?.toLowerCase() ??
    tokenOfUrl(url) ??
    (wrapper?.company ? slugOf(wrapper.company) : null) ??
    (said === null ? null : slugOf(said)) ??
    boardOfFileName(context.fileName, NAME);
  if (token === null) return refusal('absolute_url', 'does not name its board');
  const board = boardOf(token, context, {
    company: said ?? wrapper?.company ?? null,
  });
  const custom = customOf(job.metadata);
  const id = textOf(job.id);
  if (id === null) return refusal('id', 'is missing');
  return {
    board: token,
    sourceId: id,
    title: ['title', textOf(job.title)],
    company: ['company_name', board.company],
    url: ['absolute_url', url],
    domain: board.domain,
    location: locationOf(job),
    department: joinedPlaces(listOf(job.departments).map((item) => textOf(objectOf(item)?.name ?? item))),
    remoteStatus: custom.remote,
    employmentType: custom.employment,
    description: htmlOf(job.content),
    times: { publishedMs: timeOf(job.first_published) },
  };
}

export const greenhouseShape = defineShape({
  name: NAME,
  summary: 'a job board as Greenhouse publishes it, plain, wrapped, or flattened into rows',
  perBoard: true,
  marks: '"absolute_url" with "id", "title" and "updated_at"',
  recordsOf: (document) => listedUnder(document, ['jobs'], 'a Greenhouse board'),
  recognises: (record) =>
    hasAll(record, 'absolute_url', 'id', 'title') &&
    (record.updated_at !== undefined || record.internal_job_id !== undefined || record.metadata !== undefined),
  claims: (document) =>
    Array.isArray(document.jobs) && (objectOf(document.meta)?.total === 0 || document.job_count === 0),
  draftOf,
});
