/**
 * Listings: rows of aggregators with field names of their choice. They have no common publisher, so fields are found by
 * name, from the explicit lists below, compared without case, blanks, `_` and `-`. Recognised last, and only with
 * title, company and address.
 *
 * id                 `listing:<company>:<source>-<id>`, <source> where a row names the board it was found on; without an id a
 *                    hash of company, title, place and address
 * remote_status      a word for the workplace, else flags: the one of remote, hybrid, on site that alone is true
 * employment_type    by the table of employment-terms.ts
 * first, last        first and last seen, else published and the observation
 * status             closed when a row says so in words (CLOSED) or a flag for open is false
 * skills             given ones are read as part of the description, so that they get the catalogue's names
 */
import { objectOf } from '../../base/json-value.ts';
import type { RemoteStatus } from '../../catalogue/job.ts';
import {
  endTimeOf,
  flagOf,
  htmlOf,
  joinedHtml,
  listOf,
  type SourceRecord,
  textOf,
  timeOf,
  urlOf,
} from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { slugOf } from './job-id.ts';
import { companyDomainOfUrl } from './job-sites.ts';
import { joinedPlaces, placeOf } from './places.ts';
import { listedUnder } from './record-list.ts';

const NAME = 'listing';

/** Names in order of preference, as `plainName` gives them. */
const NAMES = {
  id: ['jobuid', 'jobid', 'id', 'jobkey', 'externalid', 'uid', 'uuid', 'postingid', 'slug'],
  source: ['platform', 'source', 'ats', 'sourcetype', 'site'],
  title: ['title', 'jobtitle', 'role', 'position', 'positiontitle', 'jobname'],
  company: ['companyname', 'company', 'employer', 'employername', 'organization', 'organisation', 'hiringcompany'],
  domain: ['companydomain', 'domain'],
  website: ['companywebsite', 'companyurl', 'companysite', 'employerwebsite'],
  url: [
    ...['sourceurl', 'url', 'joburl', 'postingurl', 'link', 'joblink', 'applyurl', 'applicationurl', 'applicationlink'],
    ...['applylink', 'jobpostingurl', 'canonicalurl', 'href'],
  ],
  apply: ['applyurl', 'applicationurl', 'applicationlink', 'applylink'],
  place: ['locationraw', 'location', 'locations', 'joblocation', 'cityname', 'city', 'place'],
  country: ['country', 'countryname'],
  department: ['department', 'team', 'departmentname'],
  workplace: ['workplacetype', 'workplace', 'workmode', 'remotetype', 'workmodel', 'remotestatus', 'worktype'],
  remote: ['isremote', 'remote', 'remoteallowed'],
  hybrid: ['ishybrid', 'hybrid'],
  onsite: ['isonsite', 'onsite'],
  employment: ['employmenttype', 'employment', 'jobtype', 'jobtypes', 'contracttype', 'commitment', 'type'],
  description: ['descriptionhtml', 'description', 'jobdescription', 'descriptionplain', 'content', 'summary'],
  requirements: ['requirements', 'qualifications'],
  skills: ['skills', 'skillsdetected', 'requiredskills'],
  published: [
    'dateposted',
    'publishedat',
    'postedat',
    'posteddate',
    'posted',
    'publicationdate',
    'createdat',
    'published',
  ],
  firstSeen: ['firstseen', 'firstseenat', 'firstobservedat', 'discoveredat'],
  lastSeen: ['lastseen', 'lastseenat', 'lastobservedat', 'scrapedat', 'fetchedat', 'observedat'],
  end: ['validthrough', 'expiresat', 'expirydate', 'closedat', 'deadline', 'closingdate', 'closedate'],
  status: ['status', 'state', 'jobstatus'],
  open: ['open', 'isopen', 'active', 'isactive'],
} as const satisfies Record<string, readonly string[]>;

type Field = keyof typeof NAMES;

const CLOSED: ReadonlySet<string> = new Set([
  'closed',
  'expired',
  'inactive',
  'filled',
  'removed',
  'archived',
  'delisted',
  'unavailable',
]);

function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_\-.]+/g, '');
}

/** The known columns of a row, by field, in order of preference. */
type Columns = Readonly<Record<Field, readonly string[]>>;

/** The columns of the last row: the rows of a file nearly always have the same. */
let last: { readonly key: string; readonly columns: Columns } | undefined;

function columnsOf(row: SourceRecord): Columns {
  const names = Object.keys(row);
  const key = names.join('\n');
  if (last?.key === key) return last.columns;
  const byPlain = new Map(names.map((name) => [plainName(name), name] as const));
  const columns = Object.fromEntries(
    Object.entries(NAMES).map(([field, plain]) => [
      field,
      plain.map((name) => byPlain.get(name)).filter((name) => name !== undefined),
    ]),
  ) as unknown as Columns;
  last = { key, columns };
  return columns;
}

/** The first column that has text. */
function textIn(row: SourceRecord, columns: readonly string[]): string | null {
  for (const column of columns) {
    const value = row[column];
    const text = textOf(objectOf(value)?.name ?? value);
    if (text !== null) return text;
  }
  return null;
}

function first<Value>(
  row: SourceRecord,
  columns: readonly string[],
  read: (value: unknown) => Value | null,
): Value | null {
  for (const column of columns) {
    const value = read(row[column]);
    if (value !== null) return value;
  }
  return null;
}

function addressIn(row: SourceRecord, columns: readonly string[]): string | null {
  return first(row, columns, (value) => {
    const url = urlOf(value);
    return url !== null && /^https?:\/\//i.test(url) ? url : null;
  });
}

function remoteStatusOf(row: SourceRecord, columns: Columns): RemoteStatus {
  const named = workplaceOf(textIn(row, columns.workplace));
  if (named !== 'unknown') return named;
  const flags = { remote: columns.remote, hybrid: columns.hybrid, on_site: columns.onsite } as const;
  const said = (['remote', 'hybrid', 'on_site'] as const).filter((kind) => first(row, flags[kind], flagOf) === true);
  if (said.length > 0) return said.length === 1 ? said[0]! : 'unknown';
  return (
    first(row, columns.remote, (value) => {
      const word = workplaceOf(textOf(value));
      return word === 'unknown' ? null : word;
    }) ?? 'unknown'
  );
}

function locationOf(row: SourceRecord, columns: Columns): string | null {
  for (const column of columns.place) {
    const places = joinedPlaces(
      listOf(row[column]).map((item) => {
        const place = objectOf(item);
        return place ? (textOf(place.name) ?? placeOf(place.city, place.region, place.country)) : textOf(item);
      }),
    );
    if (places === null) continue;
    // A place of one part gets its country; a place of several parts already names it, often abbreviated.
    const country = /[,;|]/.test(places) ? null : textIn(row, columns.country);
    return country === null || places.toLowerCase().includes(country.toLowerCase()) ? places : `${places}, ${country}`;
  }
  return textIn(row, columns.country);
}

function descriptionOf(row: SourceRecord, columns: Columns): string | null {
  const skills = first(row, columns.skills, (value) => {
    const names = listOf(value).map((item) => textOf(objectOf(item)?.name ?? item));
    return names.length > 0 && names.every((name) => name !== null) ? names.join(', ') : null;
  });
  return joinedHtml(first(row, columns.description, htmlOf), first(row, columns.requirements, htmlOf), skills);
}

export const listingShape = defineShape({
  name: NAME,
  summary: 'rows of an aggregator that name a title, a company and an address',
  marks: 'fields for a title, a company and a URL under one of their usual names',
  recordsOf: (document) =>
    listedUnder(document, ['jobs', 'data', 'results', 'listings', 'items', 'postings'], 'a listing'),
  recognises(record) {
    const columns = columnsOf(record);
    return columns.title.length > 0 && columns.company.length > 0 && columns.url.length > 0;
  },
  draftOf(row) {
    const columns = columnsOf(row);
    const company = textIn(row, columns.company);
    const source = textIn(row, columns.source);
    const id = textIn(row, columns.id);
    const website = first(row, columns.website, urlOf);
    const domain = textIn(row, columns.domain);
    const open = first(row, columns.open, flagOf);
    const status = textIn(row, columns.status)?.toLowerCase() ?? '';
    return {
      board: slugOf(company ?? ''),
      sourceId: id === null ? null : source === null ? id : `${slugOf(source)}-${id}`,
      title: [columns.title[0] ?? 'title', textIn(row, columns.title)],
      company: [columns.company[0] ?? 'company', company],
      url: [columns.url[0] ?? 'url', addressIn(row, columns.url)],
      applyUrl: addressIn(row, columns.apply),
      domain: domain === null ? companyDomainOfUrl(website ?? '') : companyDomainOfUrl(`https://${domain}`),
      location: locationOf(row, columns),
      department: textIn(row, columns.department),
      remoteStatus: remoteStatusOf(row, columns),
      employmentType: employmentTypeOf(
        ...columns.employment
          .flatMap((column) => listOf(row[column]))
          .map(textOf)
          .slice(0, 8),
      ),
      description: descriptionOf(row, columns),
      times: {
        publishedMs: first(row, columns.published, timeOf),
        firstSeenMs: first(row, columns.firstSeen, timeOf),
        lastSeenMs: first(row, columns.lastSeen, timeOf),
        endMs: first(row, columns.end, endTimeOf),
        closed: open === false || CLOSED.has(status),
      },
    };
  },
});
