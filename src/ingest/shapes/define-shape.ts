/** A shape from its mapping: the fields that a source has, by the names that the catalogue uses. */
import { isoTime } from '../../base/iso-time.ts';
import { objectOf } from '../../base/json-value.ts';
import { isUrl } from '../../base/parsed-url.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import type { SourceRecord } from '../input/source-field.ts';
import { NOT_AN_OBJECT } from '../native.ts';
import { hashOf } from './job-id.ts';
import type { RefusedRecord, Shape, ShapeContext, Shaped } from './shape.ts';

export interface Times {
  /** When the publisher says that it was published. */
  readonly publishedMs?: number | null;
  /** When the source itself first and last saw it. */
  readonly firstSeenMs?: number | null;
  readonly lastSeenMs?: number | null;
  /** When it stops being open. */
  readonly endMs?: number | null;
  /** The source reports that it is no longer open. */
  readonly closed?: boolean;
}

/** A field of the source and its value, so that a refusal names the field as the source does. */
export type Named = readonly [field: string, value: string | null];

/** The fields of a native record, as far as the source has them. */
export interface Draft {
  readonly board: string;
  /** null: the source has none, and a hash of company, title, place and address replaces it. */
  readonly sourceId: string | null;
  /** The id as a whole, for a shape whose ids do not name a board; otherwise `<shape>:<board>:<sourceId>`. */
  readonly id?: string | null;
  readonly title: Named;
  readonly company: Named;
  readonly url: Named;
  /** Where to apply, if that is not the posting's own address. */
  readonly applyUrl?: string | null;
  readonly domain?: string | null;
  readonly location?: string | null;
  readonly department?: string | null;
  readonly remoteStatus?: RemoteStatus;
  readonly employmentType?: EmploymentType;
  readonly description?: string | null;
  readonly skills?: readonly string[] | null;
  readonly times: Times;
}

/** Longest source id that an id contains; a longer one is replaced by its hash. */
const SOURCE_ID_LENGTH_MAX = 120;

/**
 * Observed is not the same as published. A posting was last observed when the source last saw it, else when the file was
 * fetched, but never after its end. First observed is when the source first saw it, else its publication, and never later
 * than the last observation.
 */
function observedOf(times: Times, observedAtMs: number) {
  const seenMs = times.lastSeenMs ?? observedAtMs;
  const endMs = times.endMs ?? null;
  const closed = times.closed === true || (endMs !== null && endMs <= observedAtMs);
  const statedFirstMs = times.firstSeenMs ?? times.publishedMs ?? seenMs;
  const firstMs = Math.min(statedFirstMs, seenMs);
  const lastMs = closed && endMs !== null && endMs < seenMs ? Math.max(firstMs, endMs) : seenMs;
  return {
    first_observed_at: isoTime(firstMs),
    last_observed_at: isoTime(lastMs),
    status: closed ? 'closed' : 'active',
  };
}

/** The native record of a draft; refused when title, company or address is missing, or the address is no URL. */
function shapedOf(shape: string, draft: Draft, context: ShapeContext): Shaped {
  const { board } = draft;
  const given = draft.sourceId?.trim() || null;
  const idOf = (sourceId: string) =>
    `${shape}:${board}:${sourceId.length > SOURCE_ID_LENGTH_MAX ? hashOf([sourceId]) : sourceId}`;
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
  if (!/^https?:\/\//i.test(url) || !isUrl(url)) {
    return refused(draft.url[0], 'is not an http or https URL');
  }
  const location = draft.location ?? null;
  return {
    ok: true,
    board,
    applyUrl: draft.applyUrl ?? null,
    record: {
      id: draft.id ?? idOf(given ?? hashOf([company, title, location, url])),
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

/** A draft, or why the record is refused. */
export type Drafted = Draft | RefusedRecord;

/** What is particular to one shape. */
export interface ShapeMapping extends Omit<Shape, 'nativeOf' | 'perBoard' | 'observedBy'> {
  /** Default: false. */
  readonly perBoard?: true;
  /** Default: `reader`. */
  readonly observedBy?: Shape['observedBy'];
  draftOf(record: SourceRecord, context: ShapeContext): Drafted;
}

export function defineShape({ draftOf, ...mapping }: ShapeMapping): Shape {
  return {
    perBoard: false,
    observedBy: 'reader',
    ...mapping,
    nativeOf(record, context) {
      const fields = objectOf(record);
      if (!fields) return NOT_AN_OBJECT;
      const draft = draftOf(fields, context);
      const { token } = context;
      if ('ok' in draft) return token === undefined ? draft : { ...draft, board: token };
      return shapedOf(mapping.name, token === undefined ? draft : { ...draft, board: token }, context);
    },
  };
}

/** The refusal of a record by a field of the source. @param reason completes the sentence "field ..." */
export function refusal(field: string, reason: string): RefusedRecord {
  return { ok: false, field, reason };
}

/** The same for a posting that the source says is not public, which counts as missing. */
export function unlisted(field: string, reason: string): RefusedRecord {
  return { ok: false, field, reason, isUnlisted: true };
}
