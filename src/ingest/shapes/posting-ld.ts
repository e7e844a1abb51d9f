/**
 * schema.org JobPosting (https://schema.org/JobPosting) as fields of a draft, for Teamtailor's feed and for job pages.
 * A value may be single or in an array, and plain text where the vocabulary allows it.
 *
 * location           `jobLocation[].address`: locality, region, country; else `applicantLocationRequirements`
 * remote_status      remote when `jobLocationType` is TELECOMMUTE; its absence says nothing
 * employment_type    `employmentType`: FULL_TIME, PART_TIME, CONTRACTOR, TEMPORARY, INTERN, ...
 * department         none: `occupationalCategory` and `industry` classify the job, not the company's departments
 * status             closed when `validThrough` is past
 */
import { objectOf } from '../../base/json-value.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import { endTimeOf, firstText, joinedHtml, listOf, type SourceRecord, textOf, timeOf } from '../input/source-field.ts';
import type { Times } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { companyDomainOfUrl } from './job-sites.ts';
import { joinedPlaces, placeOf } from './places.ts';

function nameOf(value: unknown): string | null {
  return textOf(objectOf(value)?.name ?? value);
}

export function isJobPosting(value: unknown): boolean {
  return listOf(objectOf(value)?.['@type']).some(
    (type) => typeof type === 'string' && /(?:^(?:schema:)?|schema\.org\/)JobPosting$/.test(type),
  );
}

/** Depth to which lists in JSON-LD are searched: a graph of item lists of items is three. */
const DEPTH_MAX = 6;
const LIST_KEYS = ['@graph', 'itemListElement', 'item', 'mainEntity', 'jobs', 'items'] as const;

/**
 * The objects of a document, including those in lists and graphs, each before its children; objects inside a posting
 * are part of it.
 */
export function* nodesOf(document: unknown, depth = 0): Generator<SourceRecord, void, void> {
  if (depth > DEPTH_MAX) return;
  for (const item of listOf(document)) {
    if (Array.isArray(item)) yield* nodesOf(item, depth + 1);
    const node = objectOf(item);
    if (node === undefined) continue;
    yield node;
    if (isJobPosting(node)) continue;
    for (const key of LIST_KEYS) yield* nodesOf(node[key], depth + 1);
  }
}

export interface PostingFields {
  readonly identifier: string | null;
  readonly title: string | null;
  readonly company: string | null;
  readonly domain: string | null;
  readonly location: string | null;
  readonly remoteStatus: RemoteStatus;
  readonly employmentType: EmploymentType;
  readonly description: string | null;
  readonly times: Times;
}

function placesOf(posting: SourceRecord): string | null {
  const places = listOf(posting.jobLocation).flatMap((item) => {
    const place = objectOf(item);
    if (!place) return [textOf(item)];
    return listOf(place.address ?? place).map((part) => {
      const address = objectOf(part);
      if (!address) return textOf(part);
      const named = placeOf(address.addressLocality, address.addressRegion, nameOf(address.addressCountry));
      return named ?? nameOf(place.name);
    });
  });
  return joinedPlaces(places) ?? joinedPlaces(listOf(posting.applicantLocationRequirements).map(nameOf));
}

export function postingFieldsOf(posting: SourceRecord): PostingFields {
  const identifier = firstText(...listOf(posting.identifier).map((item) => objectOf(item)?.value ?? item));
  const organisation = listOf(posting.hiringOrganization)[0];
  const fields = objectOf(organisation) ?? {};
  const addresses = [...listOf(fields.sameAs), ...listOf(fields.url)];
  const domains = addresses.map((address) => companyDomainOfUrl(textOf(address) ?? ''));
  const telecommute = listOf(posting.jobLocationType).some((type) => /^telecommute$/i.test(textOf(type) ?? ''));
  const skills = listOf(posting.skills)
    .map(nameOf)
    .filter((skill) => skill !== null);
  return {
    identifier,
    title: firstText(posting.title, posting.name),
    company: nameOf(organisation),
    domain: domains.find((domain) => domain !== null) ?? null,
    location: placesOf(posting),
    remoteStatus: telecommute ? 'remote' : 'unknown',
    employmentType: employmentTypeOf(...listOf(posting.employmentType).map(textOf)),
    description: joinedHtml(posting.description, posting.responsibilities, posting.qualifications, skills.join(', ')),
    times: { publishedMs: timeOf(posting.datePosted), endMs: endTimeOf(posting.validThrough) },
  };
}
