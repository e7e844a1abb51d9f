/**
 * SimplifyJobs, the `listings.json` of its public lists (and of lists made from them): an array of postings that people
 * collect, with times in epoch seconds.
 *
 * id                 `simplify:<id>`; without one, `simplify:<company>:<hash>`
 * company_domain     the host of `company_url`, unless that leads to a job site's page about the company
 * location           `locations`, joined
 * remote_status      only when an entry of `locations` begins with the word: "Remote in USA", "Hybrid Remote"
 * employment_type    internship when `terms` (or `season`) names seasons, as the lists of internships have them
 * first, last        `date_posted`, `date_updated` (when missing, `date_posted`; without both, the observation); the earlier
 *                    of the two is the first
 * status             closed when `active` or `is_visible` says no. A hidden posting can no
 *                    longer be observed as open, which is what closed means; it is not refused, because it was observed
 */
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import { flagOf, listOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { ID_LENGTH_MAX } from '../native.ts';
import { type Drafted, defineShape } from './define-shape.ts';
import { hashOf, slugOf } from './job-id.ts';
import { companyDomainOfUrl } from './job-sites.ts';
import { joinedPlaces } from './places.ts';
import { hasAll } from './record-list.ts';

const NAME = 'simplify';

const REMOTE_PLACE = /^remote\b/i;
const HYBRID_PLACE = /^hybrid\b/i;
const SEASON = /^(?:spring|summer|fall|autumn|winter)(?: \d{4})?$/i;

function remoteStatusOf(places: readonly string[]): RemoteStatus {
  if (places.some((place) => REMOTE_PLACE.test(place.trim()))) return 'remote';
  return places.some((place) => HYBRID_PLACE.test(place.trim())) ? 'hybrid' : 'unknown';
}

function employmentTypeOf(terms: readonly string[]): EmploymentType {
  return terms.some((term) => SEASON.test(term.trim())) ? 'internship' : 'unknown';
}

/** The listing's own id, without its company, because lists that derive from one another share ids; null for none. */
function ownIdOf(value: unknown): string | null {
  const id = typeof value === 'string' && value.trim() !== '' ? value : textOf(value);
  if (id === null) return null;
  const own = `${NAME}:${id}`;
  return own.length <= ID_LENGTH_MAX ? own : `${NAME}:${hashOf([id])}`;
}

function draftOf(job: SourceRecord): Drafted {
  const company = textOf(job.company_name);
  const places = listOf(job.locations)
    .map(textOf)
    .filter((place) => place !== null);
  const terms = [...listOf(job.terms), ...listOf(job.season)].map(textOf).filter((term) => term !== null);
  const postedMs = timeOf(job.date_posted);
  return {
    // One list has postings of many companies, and says nothing about companies without one.
    board: slugOf(company ?? ''),
    id: ownIdOf(job.id),
    sourceId: null,
    title: ['title', textOf(job.title)],
    company: ['company_name', company],
    url: ['url', urlOf(job.url)],
    domain: companyDomainOfUrl(urlOf(job.company_url) ?? ''),
    location: joinedPlaces(places),
    remoteStatus: remoteStatusOf(places),
    employmentType: employmentTypeOf(terms),
    times: {
      firstSeenMs: postedMs,
      lastSeenMs: timeOf(job.date_updated) ?? postedMs,
      closed: flagOf(job.active) === false || flagOf(job.is_visible) === false,
    },
  };
}

export const simplifyShape = defineShape({
  name: NAME,
  summary: 'the listings.json of a SimplifyJobs list',
  observedBy: 'source',
  marks: '"company_name" with "date_posted", "date_updated" and "active"',
  recognises: (record) => hasAll(record, 'company_name', 'date_posted', 'date_updated', 'active', 'url'),
  recordsOf(document) {
    if (!Array.isArray(document)) return { ok: false, reason: 'is not a SimplifyJobs list: it is no JSON array' };
    return { ok: true, records: document };
  },
  draftOf,
});
