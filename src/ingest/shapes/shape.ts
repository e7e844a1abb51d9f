/**
 * What a source shape is: how the records of one document are found, how a record of it is recognised, and how one record
 * becomes a native record. All are pure. A shape says only what the source says: what is missing stays null or unknown,
 * and nothing is read out of free text. The list of shapes is in shapes.ts.
 *
 * A shape does not know how its records were packed: a JSON document, JSON Lines, CSV, Parquet and the JSON-LD of an HTML
 * page all give records (source-content.ts).
 */
import { sha256Base64Url } from '../../base/digest.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import { dateTimeOf } from '../input/date-time.ts';
import { objectOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import type { NativeRecord, Refused } from '../native.ts';
import type { Board, BoardManifest } from './board-manifest.ts';

/** What a document says about all of its records. */
export interface Envelope {
  /** The board's token, when the document names it. */
  readonly board: string | null;
  readonly company: string | null;
  /** Address of the page or board that the records are from. */
  readonly url: string | null;
  /** When it was fetched, milliseconds since the epoch. */
  readonly fetchedAtMs: number | null;
}

export const NO_ENVELOPE: Envelope = { board: null, company: null, url: null, fetchedAtMs: null };

export interface ShapeContext {
  /** The last part of the document's path, as it stands; null for stdin. */
  readonly fileName: string | null;
  /** When the documents were fetched, milliseconds since the epoch, UTC. */
  readonly observedAtMs: number;
  /** From the command line: holds for every record, before the manifest. */
  readonly board: Board;
  readonly manifest: BoardManifest;
  /** Absent: the document says nothing but its records. */
  readonly envelope?: Envelope;
}

export type Records =
  | {
      readonly ok: true;
      readonly records: readonly unknown[];
      readonly envelope?: Envelope;
      /** Rows of the document that went into records of others, as one job in two places that was listed twice. */
      readonly joinedRows?: number;
    }
  | { readonly ok: false; readonly reason: string };

export type Shaped =
  /** `board` names the list that the record is from, within its shape: a feed is one board's listing at one time. */
  { readonly ok: true; readonly record: NativeRecord; readonly board: string } | RefusedRecord;

/** A record that is left out, and what is known of the job that it stands for. */
export interface RefusedRecord extends Refused {
  readonly board?: string;
  /** As the job's record would have it. */
  readonly id?: string;
  /** The source says that it is not public: the same as not being there. */
  readonly isUnlisted?: true;
}

export interface Shape {
  /** As `--format` has it. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** A document is one board's, so that a company, a domain and a manifest can be given. */
  readonly perBoard: boolean;
  /** `reader`: a posting was last seen when the file was fetched. `source`: each record says so itself. */
  readonly observedBy: 'reader' | 'source';
  /** Names of fields that show it, for people whose file was not recognised. */
  readonly marks: string;
  /** The records of one parsed JSON document. `reason` completes "this file …". */
  recordsOf(document: unknown): Records;
  /** Whether a record is of this shape, told by its fields alone. */
  recognises(record: SourceRecord): boolean;
  /** Whether a document without a single record is this shape's answer for an empty board. */
  claims?(document: SourceRecord): boolean;
  /** The field that is named in a refusal is the source's. */
  nativeOf(record: unknown, context: ShapeContext): Shaped;
}

/** The source's own id, for a message about a record that may be broken. */
export function sourceIdOf(record: unknown): string | undefined {
  const fields = objectOf(record);
  for (const name of ['id', 'job_id', 'jobId', 'control_number', 'shortcode', 'slug', 'external_id']) {
    const value = fields?.[name];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
  }
  return undefined;
}

/** Places as one location text, in order, each once; null when there is none. */
export function joinedPlaces(places: readonly (string | null | undefined)[]): string | null {
  const distinct = new Set<string>();
  for (const place of places) {
    const text = place?.trim();
    if (text) distinct.add(text);
  }
  return distinct.size === 0 ? null : [...distinct].join('; ');
}

/** City, region and country as one place, a repeated part once; null when all are blank. */
export function placeOf(...parts: readonly unknown[]): string | null {
  const distinct = new Set(parts.map(textOf).filter((part) => part !== null));
  return distinct.size === 0 ? null : [...distinct].join(', ');
}

/** Whether `record` has all of `fields`, whatever their values. */
export function hasAll(record: SourceRecord, ...fields: readonly string[]): boolean {
  return fields.every((field) => record[field] !== undefined);
}

/** What wrappers of a saved answer say beside its list: {company, fetched_at, job_count, jobs} and the like. */
export function envelopeOf(wrapper: SourceRecord): Envelope {
  const url = urlOf(wrapper.board_url ?? wrapper.base_url ?? wrapper.url ?? wrapper.home_page_url);
  return {
    board: textOf(wrapper.board ?? wrapper.board_token ?? wrapper.company_slug),
    company: textOf(wrapper.company ?? wrapper.company_name),
    url: url !== null && URL.canParse(url) ? url.replace(/\/+$/, '') : null,
    fetchedAtMs: timeOf(wrapper.fetched_at ?? wrapper.fetchedAt ?? wrapper.scraped_at ?? wrapper.generatedAt),
  };
}

/** The records of a document that is a list, holds one under one of `keys`, or is a record itself. */
export function listedUnder(document: unknown, keys: readonly string[], what: string): Records {
  if (Array.isArray(document)) return { ok: true, records: document };
  const wrapper = objectOf(document);
  for (const key of keys) {
    const list = wrapper?.[key];
    if (wrapper && Array.isArray(list)) return { ok: true, records: list, envelope: envelopeOf(wrapper) };
  }
  const wanted = ['a JSON array', ...keys.map((key) => `an object with an array "${key}"`)].join(' nor ');
  return { ok: false, reason: `is not ${what}: it is neither ${wanted}` };
}

/** A text as one part of an id: lower case, letters and digits joined by hyphens. */
export function slugOf(text: string): string {
  const slug = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return slug.length > 0 && slug.length <= 60 ? slug : hashOf([text]);
}

/** 96 bits of SHA-256 over the parts, in base64url: the id of what has none. The order of parts counts. */
export function hashOf(parts: readonly (string | null)[]): string {
  return sha256Base64Url(JSON.stringify(parts)).slice(0, 16);
}

/** A file's name as a board would be called: without endings, a date and the shape's name before it; null for none. */
export function boardOfFileName(fileName: string | null, shapeName: string): string | null {
  if (fileName === null) return null;
  const stem = fileName
    .replace(/(?:\.(?:gz|tar|json|jsonl|ndjson|csv|tsv|html?|parquet))+$/i, '')
    .replace(/[._-]\d{4}-?\d{2}-?\d{2}.*$/, '');
  const token = stem.toLowerCase().startsWith(`${shapeName}-`) ? stem.slice(shapeName.length + 1) : stem;
  return token === '' ? null : token;
}

/**
 * Who the board `token` belongs to: the command line, else the manifest (by token, then by file name, whole and without
 * its endings), else what the data say, else the token and no domain.
 */
export function boardOf(token: string, context: ShapeContext, said: Partial<Board> = {}): Board & { company: string } {
  const { board, manifest, fileName } = context;
  const stem = fileName?.replace(/\.gz$/i, '').replace(/\.[a-z]{3,5}$/i, '') ?? '';
  const listed = manifest.get(token) ?? manifest.get(fileName ?? '') ?? manifest.get(stem);
  return {
    company: board.company ?? listed?.company ?? said.company ?? token,
    domain: board.domain ?? listed?.domain ?? said.domain ?? null,
    url: listed?.url ?? said.url ?? null,
  };
}

export interface Times {
  /** When the publisher says that it was published. */
  readonly publishedMs?: number | null;
  /** When the source itself first and last saw it. */
  readonly firstSeenMs?: number | null;
  readonly lastSeenMs?: number | null;
  /** When it stops being open. */
  readonly endMs?: number | null;
  /** The source says that it is no longer open. */
  readonly closed?: boolean;
}

/** A field of the source and its value, so that a refusal names the field as its reader knows it. */
export type Named = readonly [field: string, value: string | null];

export interface Draft {
  readonly shape: string;
  readonly board: string;
  /** null: the source has none, and a hash of company, title, place and address stands for it. */
  readonly sourceId: string | null;
  readonly title: Named;
  readonly company: Named;
  readonly url: Named;
  readonly domain?: string | null;
  readonly location?: string | null;
  readonly department?: string | null;
  readonly remoteStatus?: RemoteStatus;
  readonly employmentType?: EmploymentType;
  readonly description?: string | null;
  readonly skills?: readonly string[] | null;
  readonly times: Times;
}

/** Longest source id that is written out; beyond it the hash of it stands in the id. */
const SOURCE_ID_LENGTH_MAX = 120;

/**
 * Observed and published are different things. A posting was last observed when the source last saw it, else when the
 * file was fetched; it cannot have been seen open after its end. First observed is when the source first saw it, else its
 * publication, and never later than the last.
 */
function observedOf(times: Times, observedAtMs: number) {
  const seenMs = times.lastSeenMs ?? observedAtMs;
  const endMs = times.endMs ?? null;
  const closed = times.closed === true || (endMs !== null && endMs <= observedAtMs);
  const statedFirstMs = times.firstSeenMs ?? times.publishedMs ?? seenMs;
  const firstMs = Math.min(statedFirstMs, seenMs);
  const lastMs = closed && endMs !== null && endMs < seenMs ? Math.max(firstMs, endMs) : seenMs;
  return {
    first_observed_at: dateTimeOf(firstMs),
    last_observed_at: dateTimeOf(lastMs),
    status: closed ? 'closed' : 'active',
  };
}

/** The native record of a draft; refused when it has no title, company or address, or none that is one. */
export function shapedOf(draft: Draft, context: ShapeContext): Shaped {
  const { board } = draft;
  const given = draft.sourceId?.trim() || null;
  const idOf = (sourceId: string) =>
    `${draft.shape}:${board}:${sourceId.length > SOURCE_ID_LENGTH_MAX ? hashOf([sourceId]) : sourceId}`;
  const refused = (field: string, reason: string): RefusedRecord => ({
    ok: false,
    field,
    reason,
    board,
    ...(given === null ? {} : { id: idOf(given) }),
  });
  for (const [field, value] of [draft.title, draft.company, draft.url]) {
    if (value === null || value.trim() === '') return refused(field, 'is missing or blank');
  }
  const title = draft.title[1]!;
  const company = draft.company[1]!;
  const url = draft.url[1]!;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return refused(draft.url[0], 'is not an http or https URL');
  }
  const location = draft.location ?? null;
  return {
    ok: true,
    board,
    record: {
      id: idOf(given ?? hashOf([company, title, location, url])),
      title,
      company,
      company_domain: draft.domain ?? null,
      location,
      department: draft.department ?? null,
      remote_status: draft.remoteStatus ?? 'unknown',
      employment_type: draft.employmentType ?? 'unknown',
      source_url: url,
      description: draft.description ?? null,
      ...(draft.skills && draft.skills.length > 0 ? { skills: draft.skills } : {}),
      ...observedOf(draft.times, context.observedAtMs),
    },
  };
}

/** A record that is not an object at all. */
export const NOT_AN_OBJECT: Shaped = { ok: false, field: '', reason: 'must be a JSON object' };
