/**
 * SimplifyJobs, the `listings.json` of its public lists (and of lists made from them): an array of postings that people
 * collect, with times in epoch seconds.
 *
 * id                 `simplify:<id>`
 * company_domain     the host of `company_url`, unless that leads to a job site's page about the company
 * location           `locations`, joined
 * remote_status      only when an entry of `locations` begins with the word: "Remote in USA", "Hybrid Remote"
 * employment_type    internship when `terms` (or `season`) names seasons, as the lists of internships have them
 * first, last        `date_posted`, `date_updated`
 * status             active when it is `active` and `is_visible`. One that the list has hidden is no longer to be
 *                    observed as open, which is all that closed says; it is kept, because it was observed
 */
import * as v from 'valibot';
import type { EmploymentType, RemoteStatus } from '../catalogue/job.ts';
import { dateTimeOf } from './date-time.ts';
import { companyDomainOfUrl } from './job-sites.ts';
import { hasAll, joinedPlaces, type Shape, type Shaped, slugOf } from './shape.ts';

/** 10000-01-01 in seconds. Times in milliseconds are beyond it, and so refused instead of read as the year 56000. */
const EPOCH_SECONDS_END = 253_402_300_800;

const text = v.string('must be a string');
const epochSeconds = v.pipe(
  v.number('must be a number of seconds since 1970'),
  v.integer('must be a whole number of seconds since 1970'),
  v.minValue(0, 'must be a number of seconds since 1970'),
  v.maxValue(EPOCH_SECONDS_END - 1, 'must be a number of seconds since 1970, not of milliseconds'),
);

const listing = v.object(
  {
    id: v.pipe(text, v.nonEmpty('is empty')),
    title: text,
    company_name: text,
    company_url: v.nullish(text),
    url: text,
    locations: v.nullish(v.array(text, 'must be an array of strings')),
    terms: v.nullish(v.array(text, 'must be an array of strings')),
    season: v.nullish(text),
    active: v.boolean('must be true or false'),
    is_visible: v.optional(v.boolean('must be true or false'), true),
    date_posted: epochSeconds,
    date_updated: epochSeconds,
  },
  (issue) => (issue.expected === 'Object' ? 'must be a JSON object' : 'is missing'),
);

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

function nativeOf(record: unknown): Shaped {
  const parsed = v.safeParse(listing, record, { abortEarly: true });
  if (!parsed.success) {
    const issue = parsed.issues[0];
    return { ok: false, field: v.getDotPath(issue)?.split('.')[0] ?? '', reason: issue.message };
  }
  const job = parsed.output;
  const places = job.locations ?? [];
  return {
    ok: true,
    // One list holds many companies, and says nothing of those that it has no posting of.
    board: slugOf(job.company_name),
    record: {
      id: `simplify:${job.id}`,
      title: job.title,
      company: job.company_name,
      company_domain: companyDomainOfUrl(job.company_url ?? ''),
      location: joinedPlaces(places),
      department: null,
      remote_status: remoteStatusOf(places),
      employment_type: employmentTypeOf([...(job.terms ?? []), job.season ?? '']),
      source_url: job.url,
      description: null,
      first_observed_at: dateTimeOf(job.date_posted * 1000),
      last_observed_at: dateTimeOf(job.date_updated * 1000),
      status: job.active && job.is_visible ? 'active' : 'closed',
    },
  };
}

export const simplifyShape: Shape = {
  name: 'simplify',
  summary: 'the listings.json of a SimplifyJobs list',
  perBoard: false,
  observedBy: 'source',
  marks: '"company_name" with "date_posted", "date_updated" and "active"',
  recognises: (record) => hasAll(record, 'company_name', 'date_posted', 'date_updated', 'active', 'url'),
  recordsOf(document) {
    if (!Array.isArray(document)) return { ok: false, reason: 'is not a SimplifyJobs list: it is no JSON array' };
    return { ok: true, records: document };
  },
  nativeOf,
};
