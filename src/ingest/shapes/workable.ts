/**
 * Workable: the widget API of a careers page (apply.workable.com/api/v1/widget/accounts/<account>, with `?details=true` also
 * descriptions), {name, description, jobs}; and `jobs` of its recruiting API (v3), where the place is one object and
 * `state` says what is published. The widget lists a job once for each of its places; those rows are joined into one job
 * with all places, because they are one posting with one address.
 *
 * id                 `workable:<account>:<shortcode>`; the account is the subdomain in an address, else the company's name
 * company, domain    command line, manifest, the document's `name`; no domain
 * location           city, state and country, of every row and of `locations[]` that are not hidden
 * remote_status      `workplace_type` (v3), else `telecommuting` when true: a false one may be on site or hybrid
 * employment_type    `employment_type`
 * first, last        `published_on`, else `created_at`; the observation
 */
import { objectOf } from '../../base/json-value.ts';
import type { RemoteStatus } from '../../catalogue/job.ts';
import {
  firstText,
  flagOf,
  joinedHtml,
  listOf,
  type SourceRecord,
  textOf,
  timeOf,
  urlOf,
} from '../input/source-field.ts';
import { boardOf, boardOfFileName } from './board.ts';
import { type Drafted, defineShape, refusal, unlisted } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { slugOf } from './job-id.ts';
import { joinedPlaces, placeOf } from './places.ts';
import { envelopeOf, hasAll, listedUnder } from './record-list.ts';
import type { Records, ShapeContext } from './shape.ts';

const NAME = 'workable';
const HOST = /^(?!apply\.|www\.|jobs\.)([a-z0-9-]+)\.workable\.com$/;

function accountOfUrl(text: string | null): string | null {
  const url = URL.parse(text ?? '');
  if (url === null) return null;
  const own = HOST.exec(url.hostname)?.[1];
  if (own) return own;
  // apply.workable.com/<account>/j/<shortcode>/; without the account the path begins with j.
  const [, first, second] = url.pathname.split('/');
  return url.hostname === 'apply.workable.com' && second === 'j' && first ? first : null;
}

/** Places of the job's own row and of its further `rows`, which `joined` added. */
const placesOf = (job: SourceRecord): (string | null)[] =>
  [job, ...listOf(job.rows).map((row) => objectOf(row) ?? {})].flatMap(placesOfRow);

function placesOfRow(job: SourceRecord): (string | null)[] {
  const own = objectOf(job.location);
  const listed = listOf(job.locations).map((item) => {
    const place = objectOf(item);
    if (!place) return textOf(item);
    return place.hidden === true
      ? null
      : placeOf(place.city, place.region ?? place.state, place.country ?? place.country_name);
  });
  return [
    own ? (textOf(own.location_str) ?? placeOf(own.city, own.region, own.country)) : null,
    placeOf(job.city, job.state, job.country),
    ...listed,
  ];
}

function remoteStatusOf(job: SourceRecord): RemoteStatus {
  const place = objectOf(job.location);
  const workplace = workplaceOf(firstText(job.workplace, job.workplace_type, place?.workplace_type));
  if (workplace !== 'unknown') return workplace;
  return flagOf(job.telecommuting ?? job.remote ?? place?.telecommuting) === true ? 'remote' : 'unknown';
}

/** Rows with one shortcode as one record, in the order of the first. */
function joined(found: Records): Records {
  if (!found.ok) return found;
  const byCode = new Map<string, SourceRecord>();
  const records: unknown[] = [];
  for (const record of found.records) {
    const job = objectOf(record);
    const code = textOf(job?.shortcode);
    const earlier = code === null ? undefined : byCode.get(code);
    if (earlier) (earlier.rows as unknown[]).push(record);
    else if (job && code !== null) {
      const first = { ...job, rows: [] };
      byCode.set(code, first);
      records.push(first);
    } else records.push(record);
  }
  return { ...found, records, joinedRows: found.records.length - records.length };
}

function draftOf(job: SourceRecord, context: ShapeContext): Drafted {
  const state = textOf(job.state);
  // In the widget `state` is the region of a place, in the recruiting API the status of the posting.
  if (state !== null && ['draft', 'archived', 'closed'].includes(state)) {
    return unlisted('state', 'is not published');
  }
  const code = textOf(job.shortcode);
  if (code === null) return refusal('shortcode', 'is missing');
  const url = urlOf(job.url) ?? urlOf(job.shortlink);
  const envelope = context.envelope;
  const account =
    context.token ??
    accountOfUrl(url) ??
    (envelope?.company ? slugOf(envelope.company) : null) ??
    boardOfFileName(context.fileName, NAME);
  if (account === null) return refusal('url', 'does not name its account');
  const board = boardOf(account, context, { company: envelope?.company ?? null });
  return {
    board: account,
    sourceId: code,
    title: ['title', firstText(job.title, job.full_title)],
    company: ['name', board.company],
    url: ['url', url],
    applyUrl: urlOf(job.application_url),
    domain: board.domain,
    location: joinedPlaces(placesOf(state === 'published' ? { ...job, state: null } : job)),
    department: textOf(job.department),
    remoteStatus: remoteStatusOf(job),
    employmentType: employmentTypeOf(textOf(job.employment_type ?? job.type)),
    description: joinedHtml(job.description, job.requirements, job.benefits),
    times: { publishedMs: timeOf(job.published_on ?? job.published) ?? timeOf(job.created_at) },
  };
}

export const workableShape = defineShape({
  name: NAME,
  summary: 'a careers page as Workable publishes it',
  perBoard: true,
  marks: '"shortcode" with "title" and "url"',
  recordsOf(document) {
    const found = listedUnder(document, ['jobs', 'results'], 'a Workable board');
    const wrapper = objectOf(document);
    if (!found.ok || !wrapper) return joined(found);
    return joined({
      ...found,
      envelope: {
        ...envelopeOf(wrapper),
        company: firstText(wrapper.name, wrapper.company, wrapper.company_name),
      },
    });
  },
  recognises: (record) => hasAll(record, 'shortcode', 'title'),
  claims: (document) => Array.isArray(document.jobs) && typeof document.name === 'string' && !('total' in document),
  draftOf,
});
