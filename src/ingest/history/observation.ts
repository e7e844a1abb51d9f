/**
 * How a feed changes what is known about a job, whether or not the feed has it: the rules of a catalogue's history,
 * without its storage. Pure.
 *
 * A feed is one board's listing at one time. The knowledge about a job follows from the feeds in the order of their times, not
 * of their arrival: first observed is the earliest time, last observed the latest, and the fields are those of the latest. A
 * job closes at the second complete feed of its board after the last feed that had it, or when its source says so, and opens
 * again when a later feed has it. A feed that arrives late corrects what it disproves: it moves an opening to its own earlier
 * time; a closing that now comes one feed too early it moves to the feed that still justifies it, or withdraws. It does not
 * change what a later observation has settled (fields, or a closing followed by a reopening).
 *
 * The log of events is append-only: logged events are published and stay, so a correction is logged as further events.
 * Of several openings the earliest holds, of several closings the one logged last; a withdrawn closing is followed by a
 * reopening at the same time.
 */
import type { Job } from '../../catalogue/job.ts';
import { CHANGED_FIELDS, type ChangedField } from '../../catalogue/packed/history-event.ts';

export const EVENT_KINDS = ['opened', 'changed', 'closed', 'reopened'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The fields of a job that are stored with it. */
export type ObservedJob = Omit<
  Job,
  'firstObservedMs' | 'lastObservedMs' | 'status' | 'closedAtMs' | 'description' | 'descriptionTruncated'
>;

/** The part of a source's data about a job that the history stores. */
export interface Facts {
  readonly job: ObservedJob;
  /** A digest of the description, under which it is stored; null when the source gives none. */
  readonly descriptionDigest: string | null;
  /** The source names the skills; otherwise they were extracted from title and description. */
  readonly hasOwnSkills: boolean;
  /** The source itself says that the job is closed. */
  readonly isSourceClosed: boolean;
}

/** A job in a feed. Times are milliseconds since the epoch, UTC. */
export interface Sighting extends Facts {
  /** Time of the feed. */
  readonly atMs: number;
  /** First and last observation: the feed's time, except that native records state their own. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Closing time of a job that its source reports as closed. */
  readonly sourceClosedMs: number;
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
  readonly field: ChangedField;
  /** As text; lists as JSON, a description as its digest. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Entries for the log of events. */
export type LogEntry =
  | ({ readonly kind: 'changed'; readonly atMs: number } & Change)
  | { readonly kind: 'opened' | 'closed' | 'reopened'; readonly atMs: number };

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

/** A job closes when this many complete feeds in a row lack it. */
const MISSES_TO_CLOSE = 2;

/**
 * When a job that was last present at `presentMs` counts as closed, or null.
 * @param completeMs times of its board's complete feeds, ascending
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

/** Feeds that determine the usual number of rows: enough to outvote one odd feed, few enough to follow growth. */
export const USUAL_FEEDS = 5;

/** The usual number of rows of a board: the median of its earlier feeds; null when there are none. */
export function usualRows(earlier: readonly number[]): number | null {
  if (earlier.length === 0) return null;
  const counted = [...earlier].sort((a, b) => a - b);
  const middle = counted.length >> 1;
  return counted.length % 2 === 1 ? counted[middle]! : (counted[middle - 1]! + counted[middle]!) / 2;
}

/** Fewer than half the usual rows: more likely a broken fetch than a day of closings. */
export function isUnhealthy(rows: number, usual: number | null): boolean {
  return usual !== null && rows * 2 < usual;
}

function textOf({ job, descriptionDigest }: Facts, field: ChangedField): string | null {
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
 * The facts after a later observation. A feed form without descriptions (a list without details) says nothing about
 * them, so the known description stays, and with it the skills unless the feed names its own.
 */
function succeeded(known: Facts, found: Facts): Facts {
  const { descriptionDigest } = known;
  if (found.descriptionDigest !== null || descriptionDigest === null) return found;
  if (found.hasOwnSkills) return { ...found, descriptionDigest };
  const skills = known.hasOwnSkills
    ? known.job.skills
    : [...new Set([...(found.job.title === known.job.title ? [] : found.job.skills), ...known.job.skills])];
  return { ...found, job: { ...found.job, skills }, descriptionDigest, hasOwnSkills: known.hasOwnSkills };
}

/** Sources list the same skills in one order and another. */
const haveSameSkills = (known: Facts, next: Facts): boolean =>
  known.job.skills.length === next.job.skills.length &&
  known.job.skills.every((skill) => next.job.skills.includes(skill));

/**
 * What the source has changed. Skills count only if the source names them both times: extracted ones change with title
 * and description, which are recorded anyway, or with the dictionary, which does not change the posting. Nor is a first
 * description a change.
 */
function changesBetween(known: Facts, next: Facts): Change[] {
  const changes: Change[] = [];
  for (const field of CHANGED_FIELDS) {
    if (field === 'skills' && !(known.hasOwnSkills && next.hasOwnSkills)) continue;
    const before = textOf(known, field);
    const after = textOf(next, field);
    if (before === after || (field === 'description' && (before === null || after === null))) continue;
    if (field === 'skills' && haveSameSkills(known, next)) continue;
    changes.push({ field, before, after });
  }
  return changes;
}

/** The entries that change the log from a closing at `before` to one at `after`. @param seenMs when the job was seen */
function closingEntries(before: number | null, after: number | null, seenMs: number): LogEntry[] {
  if (before === after) return [];
  const closed: LogEntry[] = after === null ? [] : [{ kind: 'closed', atMs: after }];
  // A closing that turns out to be earlier needs no reopening. Any other is withdrawn: at the time of a later sighting,
  // or at its own time if it was never valid.
  if (before === null || (after !== null && after < before)) return closed;
  return [{ kind: 'reopened', atMs: Math.max(before, seenMs) }, ...closed];
}

/**
 * @param opening the entries before any other
 * @param changes a reader of the log has the job open again before they apply to it, and they precede a closing of the same time
 */
function outcomeOf(
  known: KnownJob,
  next: KnownJob,
  seenMs: number,
  opening: readonly LogEntry[] = [],
  changes: readonly LogEntry[] = [],
): Outcome {
  const closing = closingEntries(known.closedMs, next.closedMs, seenMs);
  const reopened = closing.filter(({ kind }) => kind === 'reopened');
  const closed = closing.filter(({ kind }) => kind === 'closed');
  const { closedMs: before } = known;
  const { closedMs: after } = next;
  // A closing at or after the sighting turns out to be wrong, or to belong at another time.
  const wasClosed = before !== null && before < seenMs;
  return {
    next,
    log: [...opening, ...reopened, ...changes, ...closed],
    isNew: false,
    isChanged: changes.length > 0,
    isClosed: before !== after && after !== null && (before === null || wasClosed),
    isReopened: before !== after && before !== null && (wasClosed || after === null),
  };
}

/**
 * Whether the facts of a sighting replace the known ones. Native records state their last observation, and a closing
 * does not advance it: of records with equal ones, that of the later feed holds.
 */
export function isLatestSighting(known: KnownJob, { lastMs, atMs }: Sighting): boolean {
  return lastMs > known.lastMs || (lastMs === known.lastMs && atMs > known.presentMs);
}

/**
 * The closing time of a job that its source reports as closed, after a feed that arrives late. If every feed so far
 * says closed, it counts from the earliest. If the job was seen open after its closing, it was closed again at its last
 * observation at the latest.
 */
function closingSeenLate(known: KnownJob, { isSourceClosed, lastMs, sourceClosedMs }: Sighting): number | null {
  const { closedMs, firstMs } = known;
  if (closedMs === null) return null;
  if (isSourceClosed) return closedMs <= firstMs ? Math.min(closedMs, sourceClosedMs) : closedMs;
  return closedMs <= lastMs ? known.lastMs : closedMs;
}

/** A job that was closed when first seen has no opening, unless its record states an earlier observation. */
const hasOpening = ({ isSourceClosed, firstMs, sourceClosedMs }: Sighting): boolean =>
  !isSourceClosed || firstMs < sourceClosedMs;

/**
 * What a feed that has the job changes.
 * @param known undefined for a job that is new
 * @param completeMs times of the complete feeds of its board, ascending
 */
export function sighted(known: KnownJob | undefined, found: Sighting, completeMs: readonly number[]): Outcome {
  const { atMs, firstMs, lastMs, job, descriptionDigest, hasOwnSkills, isSourceClosed, sourceClosedMs } = found;
  const facts: Facts = { job, descriptionDigest, hasOwnSkills, isSourceClosed };
  if (known === undefined) {
    const closedMs = isSourceClosed ? sourceClosedMs : closingOf(completeMs, atMs);
    const next = { ...facts, firstMs, lastMs, presentMs: atMs, closedMs };
    const log: LogEntry[] = hasOpening(found) ? [{ kind: 'opened', atMs: firstMs }] : [];
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
  const isLatest = isLatestSighting(known, found);
  const latest = isLatest ? succeeded(known, facts) : known;
  const presentMs = Math.max(known.presentMs, atMs);
  const opening: LogEntry[] = firstMs < known.firstMs && hasOpening(found) ? [{ kind: 'opened', atMs: firstMs }] : [];
  const changes = isLatest ? changesBetween(known, latest) : [];
  const changed = changes.map((change): LogEntry => ({ kind: 'changed', atMs: lastMs, ...change }));
  let closedMs: number | null;
  if (!latest.isSourceClosed) closedMs = closingOf(completeMs, presentMs);
  else if (!isLatest) closedMs = closingSeenLate(known, found);
  else closedMs = known.closedMs !== null && known.closedMs <= lastMs ? known.closedMs : sourceClosedMs;
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
  return outcomeOf(known, next, lastMs, opening, changed);
}

/** What a new complete feed of its board without the job changes. */
export function missed(known: KnownJob, completeMs: readonly number[]): Outcome {
  const closedMs = known.isSourceClosed ? known.closedMs : closingOf(completeMs, known.presentMs);
  return outcomeOf(known, { ...known, closedMs }, known.presentMs);
}
