/**
 * The native job record (decisions §3, "Native input"): one JSON object, snake_case, read into a `Job`. Every accepted
 * string is bounded, well-formed Unicode, so that a snapshot's contents can always be exported again. Unknown fields
 * are ignored; a refusal names the wrong field with a fixed reason, by which refusals are counted.
 */
import { parseDateTime } from '../base/date-time.ts';
import { isObject } from '../base/json-value.ts';
import { isUrl, uriOf } from '../base/parsed-url.ts';
import { type CompanyDomain, parseCompanyDomain } from '../catalogue/company-domain.ts';
import { DOMAIN_EVIDENCE } from '../catalogue/domain-evidence.ts';
import {
  DESCRIPTION_LENGTH_MAX,
  EMPLOYMENT_TYPES,
  JOB_STATUSES,
  type Job,
  type JobStatus,
  REMOTE_STATUSES,
} from '../catalogue/job.ts';
import { DESCRIPTION_FORMATS } from './input/description-format.ts';
import type { SkillExtractor } from './skills/skills.ts';

/** Reads descriptions, and extracts the skills of a record that names none from its title and its description's whole text. */
export type SkillSource = Pick<SkillExtractor, 'extract' | 'descriptionText'>;

/** The object on a line, as the other shapes and the synthetic catalogue write it. Absent means `null`. */
export interface NativeRecord {
  id: string;
  title: string;
  company: string;
  company_domain?: string | null;
  company_domain_evidence?: string | null;
  company_aliases?: readonly string[] | null;
  location?: string | null;
  department?: string | null;
  remote_status?: string | null;
  employment_type?: string | null;
  source_url: string;
  description?: string | null;
  description_format?: string | null;
  description_truncated?: boolean | null;
  skills?: readonly string[] | null;
  first_observed_at: string;
  last_observed_at: string;
  status?: string | null;
  closed_at?: string | null;
}

/** `field` is a name of the record ('' for the record as a whole); `reason` completes the sentence "field …". */
export interface Refused {
  readonly ok: false;
  readonly field: string;
  readonly reason: string;
}

export type NativeParse =
  | {
      readonly ok: true;
      readonly job: Job;
      /** The whole text of the description; the job keeps the beginning. */
      readonly description: string | null;
    }
  | Refused;

/** Code points of an id (decisions §3). */
export const ID_LENGTH_MAX = 200;
/** Code points of a title, company or department: several times the longest of 260,000 real ones. */
export const NAME_LENGTH_MAX = 1000;
/** Code points of a location: source text, where feeds join fifty places into one. */
export const LOCATION_LENGTH_MAX = 4000;
/** UTF-16 units of a source URL: the length that common browsers and proxies still accept. */
export const URL_LENGTH_MAX = 8000;
/** Skills of one job, and code points of one. */
export const SKILL_COUNT_MAX = 200;
export const SKILL_LENGTH_MAX = 100;
/** Aliases on one line: a company gathers a few from each of its boards. */
const ALIAS_COUNT_MAX = 1000;

const HTTP_URL = /^https?:\/\//i;
/** What the URL Standard drops before it parses: C0 controls and blanks at both ends, tabs and line breaks anywhere. */
const URL_DROPPED = /^[\u0000- ]+|(?<![\u0000- ])[\u0000- ]+$|[\t\n\r]+/g;

const NOT_DOMAINS = 'must be an array of domain names such as example.com';
const NOT_TEXT = 'must be a string';
const NOT_UNICODE = 'holds a lone surrogate, which is not Unicode text';

class FieldRefusedError extends Error {
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string) {
    super(reason);
    this.field = field;
    this.reason = reason;
  }
}

function longerThan(text: string, codePoints: number): boolean {
  return endOfCodePoints(text, codePoints) < text.length;
}

/** Where the first `codePoints` code points of a text end, in code units. */
function endOfCodePoints(text: string, codePoints: number): number {
  if (text.length <= codePoints) return text.length;
  let end = 0;
  for (let count = 0; count < codePoints && end < text.length; count++) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  }
  return end;
}

/** The text of a required field, trimmed. */
function requiredText(field: string, value: unknown): string {
  const text = optionalText(field, value, NAME_LENGTH_MAX);
  if (text !== null) return text;
  throw new FieldRefusedError(field, value === undefined || value === null ? 'is missing' : 'is blank');
}

/** The text of an optional field, trimmed; absent, null and blank are null. */
function optionalText(field: string, value: unknown, lengthMax: number): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new FieldRefusedError(field, NOT_TEXT);
  if (!value.isWellFormed()) throw new FieldRefusedError(field, NOT_UNICODE);
  const text = value.trim();
  if (longerThan(text, lengthMax)) throw new FieldRefusedError(field, `is longer than ${lengthMax} characters`);
  return text === '' ? null : text;
}

/** The id, unchanged: ids are opaque, so blanks in them count. */
function identifier(value: unknown): string {
  if (value === undefined || value === null) throw new FieldRefusedError('id', 'is missing');
  if (typeof value !== 'string') throw new FieldRefusedError('id', NOT_TEXT);
  if (value === '') throw new FieldRefusedError('id', 'is empty');
  if (!value.isWellFormed()) throw new FieldRefusedError('id', NOT_UNICODE);
  if (value.includes('\0')) throw new FieldRefusedError('id', 'holds U+0000, which no query parameter may hold');
  if (longerThan(value, ID_LENGTH_MAX)) throw new FieldRefusedError('id', `is longer than ${ID_LENGTH_MAX} characters`);
  return value;
}

function companyDomain(value: unknown): CompanyDomain | null {
  if (value === undefined || value === null) return null;
  const domain = typeof value === 'string' ? parseCompanyDomain(value) : undefined;
  if (domain === undefined) throw new FieldRefusedError('company_domain', 'must be a domain name such as example.com');
  return domain;
}

/** Other domains of the company (beyond the specification: what `snapshot export` writes); absent and null are none. */
function companyAliases(value: unknown): CompanyDomain[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new FieldRefusedError('company_aliases', NOT_DOMAINS);
  if (value.length > ALIAS_COUNT_MAX) {
    throw new FieldRefusedError('company_aliases', `has more than ${ALIAS_COUNT_MAX} entries`);
  }
  return value.map((alias) => {
    const domain = typeof alias === 'string' ? parseCompanyDomain(alias) : undefined;
    if (domain === undefined) throw new FieldRefusedError('company_aliases', NOT_DOMAINS);
    return domain;
  });
}

function oneOf<Item extends string, Absent extends Item | null>(
  field: string,
  value: unknown,
  items: readonly Item[],
  absent: Absent,
): Item | Absent {
  if (value === undefined || value === null) return absent;
  const item = items.find((candidate) => candidate === value);
  if (item === undefined) throw new FieldRefusedError(field, `must be one of ${items.join(', ')}`);
  return item;
}

function sourceUrl(value: unknown): string {
  if (value === undefined || value === null) throw new FieldRefusedError('source_url', 'is missing');
  if (typeof value !== 'string') throw new FieldRefusedError('source_url', NOT_TEXT);
  if (value.length > URL_LENGTH_MAX) {
    throw new FieldRefusedError('source_url', `is longer than ${URL_LENGTH_MAX} characters`);
  }
  if (!value.isWellFormed()) throw new FieldRefusedError('source_url', NOT_UNICODE);
  const address = value.replace(URL_DROPPED, '');
  if (!HTTP_URL.test(address)) throw new FieldRefusedError('source_url', 'must be an absolute http or https URL');
  // A slash to the URL Standard, to RFC 3986 part of the host: the two find different hosts.
  if (address.includes('\\')) throw new FieldRefusedError('source_url', 'holds a backslash');
  if (!isUrl(address)) throw new FieldRefusedError('source_url', 'has a host or port that is not valid');
  const uri = uriOf(address);
  if (uri.length > URL_LENGTH_MAX) {
    throw new FieldRefusedError('source_url', `is longer than ${URL_LENGTH_MAX} characters as a URI`);
  }
  return uri;
}

/** The skills of the record, unchanged, repeats once; null when it names none. */
function givenSkills(value: unknown): string[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw new FieldRefusedError('skills', 'must be an array of strings');
  const skills = new Set<string>();
  for (const skill of value) {
    if (typeof skill !== 'string') throw new FieldRefusedError('skills', 'must be an array of strings');
    if (skill.trim() === '') throw new FieldRefusedError('skills', 'holds a blank entry');
    if (!skill.isWellFormed()) throw new FieldRefusedError('skills', NOT_UNICODE);
    if (longerThan(skill, SKILL_LENGTH_MAX)) {
      throw new FieldRefusedError('skills', `holds an entry longer than ${SKILL_LENGTH_MAX} characters`);
    }
    skills.add(skill);
  }
  if (skills.size > SKILL_COUNT_MAX) throw new FieldRefusedError('skills', `has more than ${SKILL_COUNT_MAX} entries`);
  return [...skills];
}

function observed(field: string, value: unknown): number {
  if (value === undefined || value === null) throw new FieldRefusedError(field, 'is missing');
  const timeMs = typeof value === 'string' ? parseDateTime(value) : undefined;
  if (timeMs === undefined) throw new FieldRefusedError(field, 'must be an RFC 3339 date-time or a date');
  return timeMs;
}

/** The whole text of the record's description; null when there is none, or no text in it. */
function wholeDescription(record: Record<string, unknown>, { descriptionText }: SkillSource): string | null {
  const source = optionalText('description', record.description, Number.POSITIVE_INFINITY);
  const format = oneOf('description_format', record.description_format, DESCRIPTION_FORMATS, null);
  if (source === null) return null;
  const text = descriptionText(source, format);
  return text === '' ? null : text;
}

/** The stored text, and whether it was shortened, here or by the record's writer. */
function keptDescription(
  whole: string | null,
  isTruncated: unknown,
): Pick<Job, 'description' | 'descriptionTruncated'> {
  if (isTruncated !== undefined && isTruncated !== null && typeof isTruncated !== 'boolean') {
    throw new FieldRefusedError('description_truncated', 'must be true or false');
  }
  if (whole === null) {
    if (isTruncated) throw new FieldRefusedError('description_truncated', 'is true without a description');
    return { description: null, descriptionTruncated: false };
  }
  const end = endOfCodePoints(whole, DESCRIPTION_LENGTH_MAX);
  return {
    description: end === whole.length ? whole : whole.slice(0, end).trimEnd(),
    descriptionTruncated: end < whole.length || isTruncated === true,
  };
}

/** When the job closed: as stated, else its last observation; null while it is active. */
function closingOf(value: unknown, status: JobStatus, lastObservedMs: number): number | null {
  if (value === undefined || value === null) return status === 'closed' ? lastObservedMs : null;
  const closedAtMs = observed('closed_at', value);
  if (status !== 'closed') throw new FieldRefusedError('closed_at', 'goes only with the status closed');
  if (closedAtMs < lastObservedMs) throw new FieldRefusedError('closed_at', 'is earlier than last_observed_at');
  return closedAtMs;
}

function parsed(record: Record<string, unknown>, skills: SkillSource): NativeParse {
  const id = identifier(record.id);
  const title = requiredText('title', record.title);
  const company = requiredText('company', record.company);
  const domain = companyDomain(record.company_domain);
  const evidence =
    domain === null
      ? null
      : oneOf('company_domain_evidence', record.company_domain_evidence, DOMAIN_EVIDENCE, 'source');
  const aliases = companyAliases(record.company_aliases);
  const location = optionalText('location', record.location, LOCATION_LENGTH_MAX);
  const department = optionalText('department', record.department, NAME_LENGTH_MAX);
  const remoteStatus = oneOf('remote_status', record.remote_status, REMOTE_STATUSES, 'unknown');
  const employmentType = oneOf('employment_type', record.employment_type, EMPLOYMENT_TYPES, 'unknown');
  const url = sourceUrl(record.source_url);
  const description = wholeDescription(record, skills);
  const kept = keptDescription(description, record.description_truncated);
  const given = givenSkills(record.skills);
  const firstObservedMs = observed('first_observed_at', record.first_observed_at);
  const lastObservedMs = observed('last_observed_at', record.last_observed_at);
  if (lastObservedMs < firstObservedMs)
    throw new FieldRefusedError('last_observed_at', 'is earlier than first_observed_at');
  const status = oneOf('status', record.status, JOB_STATUSES, 'active');
  const closedAtMs = closingOf(record.closed_at, status, lastObservedMs);
  const job: Job = {
    id,
    title,
    company,
    companyDomain: domain,
    // `source` and no alias are what a job has without these.
    ...(evidence === null || evidence === 'source' ? {} : { companyDomainEvidence: evidence }),
    ...(aliases.length === 0 ? {} : { companyAliases: aliases }),
    location,
    department,
    remoteStatus,
    employmentType,
    sourceUrl: url,
    skills: given ?? skills.extract(title, description),
    firstObservedMs,
    lastObservedMs,
    status,
    closedAtMs,
    ...kept,
  };
  return { ok: true, job, description };
}

/** The refusal of a record that is no object at all. */
export const NOT_AN_OBJECT: Refused = { ok: false, field: '', reason: 'must be a JSON object' };

/** A job, or the first wrong field in the order of the specification's list. */
export function parseNative(value: unknown, skills: SkillSource): NativeParse {
  if (!isObject(value)) return NOT_AN_OBJECT;
  try {
    return parsed(value, skills);
  } catch (error) {
    if (error instanceof FieldRefusedError) return { ok: false, field: error.field, reason: error.reason };
    throw error;
  }
}
