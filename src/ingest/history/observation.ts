/**
 * What becomes of a known job when it is found again, or not: the rules of a catalogue's history, without its storage. Pure.
 *
 * A feed is one board's listing at one time. What is known of a job follows from the feeds in the order of their times, not
 * of their arrival: first observed is the earliest time, last observed the latest, and the fields are those of the latest.
 * A job is closed at the second complete feed of its board behind the last feed that had it, or when its source says so, and
 * is open again when a later feed has it. A feed that arrives late moves what it proves wrong: an opening to its earlier
 * time, a closing that has become one feed too early to the feed that still justifies it, or away. What a still later
 * observation has settled meanwhile (fields, a closing that was followed by a reopening) it leaves alone.
 */
import type { Job } from '../../catalogue/job.ts';

/** Fields of which a change is recorded, as native records name them. */
const OBSERVED_FIELDS = [
  'title',
  'company',
  'company_domain',
  'location',
  'department',
  'remote_status',
  'employment_type',
  'source_url',
  'description',
  'skills',
] as const;
type ObservedField = (typeof OBSERVED_FIELDS)[number];

export const EVENT_KINDS = ['opened', 'changed', 'closed', 'reopened'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** What a source says about a job, as far as it is kept. */
export interface Facts {
  readonly job: Omit<Job, 'firstObservedMs' | 'lastObservedMs' | 'status'>;
  /** Names the text of the description, which is not kept; null when the source gives none. */
  readonly descriptionDigest: string | null;
  /** The skills are the source's own; otherwise they were taken from title and description. */
  readonly hasOwnSkills: boolean;
  /** The source itself says that the job is closed. */
  readonly isSourceClosed: boolean;
}

/** A job in a feed. Times are milliseconds since the epoch, UTC. */
export interface Sighting extends Facts {
  /** Time of the feed. */
  readonly atMs: number;
  /** First and last observation: the feed's time, but for native records, which bring their own. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface KnownJob extends Facts {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Time of the latest feed that had it. */
  readonly presentMs: number;
  /** Since when it is closed; null while it is open. */
  readonly closedMs: number | null;
}

export interface Change {
  readonly field: ObservedField;
  /** As text; lists as JSON, a description as its digest. */
  readonly before: string | null;
  readonly after: string | null;
}

/** What is to be written to the log of events, in this order. */
export type LogEntry =
  | ({ readonly kind: 'changed'; readonly atMs: number } & Change)
  | { readonly kind: 'opened' | 'closed' | 'reopened'; readonly atMs: number }
  /** The opening was earlier than the log has it; when the log has none, it is this. */
  | { readonly kind: 'opening moved'; readonly atMs: number }
  /** The closing at `fromMs` was at `atMs` instead; null: there was none. */
  | { readonly kind: 'closing moved'; readonly fromMs: number; readonly atMs: number | null };

export interface Outcome {
  readonly next: KnownJob;
  readonly log: readonly LogEntry[];
  readonly isNew: boolean;
  readonly isChanged: boolean;
  /** Open before, closed now. */
  readonly isClosed: boolean;
  /** Closed before, and open now or in between. */
  readonly isReopened: boolean;
}

/** Complete feeds in a row that a job must be missing from. */
const MISSES_TO_CLOSE = 2;

/**
 * Time at which a job that was present last at `presentMs` counts as closed, or null.
 * completeMs  times of its board's complete feeds, ascending
 */
function closingOf(completeMs: readonly number[], presentMs: number): number | null {
  let low = 0;
  let high = completeMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (completeMs[middle]! > presentMs) high = middle;
    else low = middle + 1;
  }
  return completeMs[low + MISSES_TO_CLOSE - 1] ?? null;
}

/** Feeds that the usual number of rows is taken from: enough that one odd feed decides nothing, few enough to follow growth. */
export const USUAL_FEEDS = 5;

/** The usual rows of a board, the median of those of its earlier feeds; null when there are none. */
export function usualRows(earlier: readonly number[]): number | null {
  if (earlier.length === 0) return null;
  const counted = [...earlier].sort((a, b) => a - b);
  const middle = counted.length >> 1;
  return counted.length % 2 === 1 ? counted[middle]! : (counted[middle - 1]! + counted[middle]!) / 2;
}

/** Under half of what is usual: more likely a broken fetch than a day of closings. */
export function isUnhealthy(rows: number, usual: number | null): boolean {
  return usual !== null && rows * 2 < usual;
}

function textOf({ job, descriptionDigest }: Facts, field: ObservedField): string | null {
  switch (field) {
    case 'title':
      return job.title;
    case 'company':
      return job.company;
    case 'company_domain':
      return job.companyDomain;
    case 'location':
      return job.location;
    case 'department':
      return job.department;
    case 'remote_status':
      return job.remoteStatus;
    case 'employment_type':
      return job.employmentType;
    case 'source_url':
      return job.sourceUrl;
    case 'description':
      return descriptionDigest;
    case 'skills':
      return JSON.stringify(job.skills);
  }
}

/**
 * The facts of a later observation over those of an earlier one. A form of a feed that leaves descriptions out (a list
 * beside its details) says nothing about them: the known one and its skills hold.
 */
function succeeded(known: Facts, found: Facts): Facts {
  if (found.descriptionDigest !== null || known.descriptionDigest === null || found.hasOwnSkills) return found;
  const skills = known.hasOwnSkills
    ? known.job.skills
    : [...new Set([...(found.job.title === known.job.title ? [] : found.job.skills), ...known.job.skills])];
  return {
    ...found,
    job: { ...found.job, skills },
    descriptionDigest: known.descriptionDigest,
    hasOwnSkills: known.hasOwnSkills,
  };
}

/**
 * What the source has changed. Skills count only where they are the source's own on both sides: extracted ones change with
 * title and description, which are recorded, or with the dictionary, which is no change of the posting. A description that
 * was not known before is no change either.
 */
function changesBetween(known: Facts, next: Facts): Change[] {
  const changes: Change[] = [];
  for (const field of OBSERVED_FIELDS) {
    if (field === 'skills' && !(known.hasOwnSkills && next.hasOwnSkills)) continue;
    const before = textOf(known, field);
    const after = textOf(next, field);
    if (before === after || (field === 'description' && (before === null || after === null))) continue;
    changes.push({ field, before, after });
  }
  return changes;
}

/** The entries that take the log from a closing at `before` to one at `after`, by what was seen at `seenMs`. */
function closingEntries(before: number | null, after: number | null, seenMs: number): LogEntry[] {
  if (before === after) return [];
  if (before === null) return after === null ? [] : [{ kind: 'closed', atMs: after }];
  // A further page of the very feed that it was missing from is such a proof too.
  if (before >= seenMs) return [{ kind: 'closing moved', fromMs: before, atMs: after }];
  const reopened: LogEntry = { kind: 'reopened', atMs: seenMs };
  return after === null ? [reopened] : [reopened, { kind: 'closed', atMs: after }];
}

function outcomeOf(known: KnownJob, next: KnownJob, log: LogEntry[], seenMs: number, isChanged: boolean): Outcome {
  const closing = closingEntries(known.closedMs, next.closedMs, seenMs);
  return {
    next,
    log: [...log, ...closing],
    isNew: false,
    isChanged,
    isClosed: closing.some(({ kind }) => kind === 'closed'),
    isReopened: closing.some(({ kind, atMs }) => kind === 'reopened' || (kind === 'closing moved' && atMs === null)),
  };
}

/**
 * A job in a feed: unknown so far, or found again.
 * completeMs  times of the complete feeds of its board, ascending
 */
export function sighted(known: KnownJob | undefined, found: Sighting, completeMs: readonly number[]): Outcome {
  const { atMs, firstMs, lastMs, job, descriptionDigest, hasOwnSkills, isSourceClosed } = found;
  const facts: Facts = { job, descriptionDigest, hasOwnSkills, isSourceClosed };
  if (known === undefined) {
    const closedMs = isSourceClosed ? lastMs : closingOf(completeMs, atMs);
    const next = { ...facts, firstMs, lastMs, presentMs: atMs, closedMs };
    // One that was closed when it was first seen was never seen to open.
    const log: LogEntry[] = isSourceClosed ? [] : [{ kind: 'opened', atMs: firstMs }];
    if (closedMs !== null) log.push({ kind: 'closed', atMs: closedMs });
    return {
      next,
      log,
      isNew: true,
      isChanged: false,
      isClosed: !isSourceClosed && closedMs !== null,
      isReopened: false,
    };
  }
  const isLatest = lastMs > known.lastMs;
  const latest = isLatest ? succeeded(known, facts) : known;
  const presentMs = Math.max(known.presentMs, atMs);
  const log: LogEntry[] = [];
  if (firstMs < known.firstMs && !isSourceClosed) log.push({ kind: 'opening moved', atMs: firstMs });
  const changes = isLatest ? changesBetween(known, latest) : [];
  for (const change of changes) log.push({ kind: 'changed', atMs: lastMs, ...change });
  let closedMs: number | null;
  if (!latest.isSourceClosed) closedMs = closingOf(completeMs, presentMs);
  else if (!isLatest) closedMs = known.closedMs;
  else closedMs = known.closedMs !== null && known.closedMs <= lastMs ? known.closedMs : lastMs;
  const next: KnownJob = {
    job: latest.job,
    descriptionDigest: latest.descriptionDigest,
    hasOwnSkills: latest.hasOwnSkills,
    isSourceClosed: latest.isSourceClosed,
    firstMs: Math.min(known.firstMs, firstMs),
    lastMs: Math.max(known.lastMs, lastMs),
    presentMs,
    closedMs,
  };
  return outcomeOf(known, next, log, lastMs, changes.length > 0);
}

/** A job of a board that has a new complete feed without it. */
export function missed(known: KnownJob, completeMs: readonly number[]): Outcome {
  const closedMs = known.isSourceClosed ? known.closedMs : closingOf(completeMs, known.presentMs);
  return outcomeOf(known, { ...known, closedMs }, [], known.presentMs, false);
}
