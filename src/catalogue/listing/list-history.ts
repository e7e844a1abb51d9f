/**
 * The feed of all events, and the events of one job (siblings §4), oldest first. The feed is in the order in which a catalogue
 * recorded its events, so that a client can follow it for ever: an event recorded later comes later, whenever it was observed.
 *
 * Cost: some twenty short reads to find the start of a page; adjacent events are read together; a filter reads the
 * blocks that may have a match (feed-blocks.ts), a company's page its own list of events.
 */
import { firstWhere } from '../../base/first-where.ts';
import type { Catalogue } from '../catalogue.ts';
import { HISTORY_KINDS, type HistoryEvent } from '../packed/history-event.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { EventFilter } from './feed-blocks.ts';
import { feedPositionAt, firstEventAfter, parseFeedPosition } from './feed-positions.ts';
import { isTime } from './job-positions.ts';
import type { HistoryFilters, HistoryPage, ListedEvent } from './listing-answers.ts';
import { shownCompany } from './shown-company.ts';

/**
 * A page of the feed. On the last page `next` is the end of the feed, where later events will follow; for a company
 * that the catalogue does not know, it is the position that was asked for. It is null only when `untilMs` is given and
 * no event before it follows.
 * @param after where the page before ended; `undefined` = from the beginning
 * @param limit at least 1
 * @returns `undefined` when `after` is no position in such a feed
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function listHistory(
  catalogue: Catalogue,
  filters: HistoryFilters,
  after: Uint8Array | undefined,
  limit: number,
): HistoryPage | undefined {
  const { snapshot } = catalogue;
  const { history } = snapshot;
  const position = after === undefined ? undefined : parseFeedPosition(after);
  if (after !== undefined && position === undefined) return undefined;
  const start = position === undefined ? 0 : firstEventAfter(snapshot, position);
  if (start === undefined) return undefined;
  const found = matchesFrom(catalogue, filters, start, limit + 1);
  const events = listedEvents(snapshot, found.slice(0, limit));
  const isEnd = found.length <= limit;
  let next: Uint8Array | null = null;
  if (!isEnd) next = feedPositionAt(snapshot, found[limit - 1]!);
  else if (filters.untilMs === undefined) {
    const isKnown = filters.company === undefined || snapshot.companyOf(filters.company) !== undefined;
    // Does not move past events that a company missing from the file may bring later. And a position with nothing after
    // it may be from a later state of the catalogue.
    const staysThere = !isKnown || (start >= history.count && after !== undefined);
    next = staysThere ? (after ?? feedPositionAt(snapshot, -1)) : feedPositionAt(snapshot, history.count - 1);
  }
  history.requireUnchanged();
  return { events, next };
}

/** The first `count` positions from `start` on whose events match. */
function matchesFrom(
  { listing, snapshot }: Catalogue,
  filters: HistoryFilters,
  start: number,
  count: number,
): number[] {
  const { company, kind, sinceMs, untilMs } = filters;
  const { history } = snapshot;
  const filter: EventFilter = { sinceMs, untilMs, kind: kind === undefined ? undefined : HISTORY_KINDS.indexOf(kind) };
  const isFiltered = kind !== undefined || sinceMs !== undefined || untilMs !== undefined;
  if (company === undefined) {
    if (isFiltered) return listing.feedBlocks.matchesFrom(start, filter, count);
    return Array.from({ length: Math.min(count, history.count - start) }, (_, i) => start + i);
  }
  const code = snapshot.companyOf(company);
  if (code === undefined) return [];
  const own = history.eventsOfCompany(code);
  const first = firstWhere(0, own.count, (place) => own.positionsAt(place, 1)[0]! >= start);
  if (!isFiltered) return [...own.positionsAt(first, Math.min(count, own.count - first))];
  return listing.feedBlocks.matchesAmong(own, first, filter, count);
}

function listedEvents(snapshot: Snapshot, positions: readonly number[]): ListedEvent[] {
  return positions.length === 0 ? [] : snapshot.history.eventsAt(positions).map((event) => listed(snapshot, event));
}

function listed(snapshot: Snapshot, event: HistoryEvent): ListedEvent {
  const { absentJob, changes, id, jobId, kind, observedMs, row, title } = event;
  const company = row === null ? undefined : snapshot.employerCompany[snapshot.employer[row]!]!;
  return {
    id,
    jobId,
    kind,
    observedMs,
    title,
    company:
      company === undefined
        ? { name: absentJob!.company, domain: absentJob!.companyDomain }
        : shownCompany(snapshot, company),
    changes,
  };
}

// Positions in the events of one job: observed time, Float64, then the event's number in its catalogue, Uint32, or where events
// follow from the job its kind, a byte. Big-endian.
const TIME_BYTES = 8;

/**
 * A page of the events of a job, by observed time, then as recorded. `next` is null when nothing follows.
 * @param row of the job
 * @param after, limit, result and errors as for `listHistory`
 */
export function listJobHistory(
  { snapshot }: Catalogue,
  row: number,
  after: Uint8Array | undefined,
  limit: number,
): HistoryPage | undefined {
  const { history } = snapshot;
  const orderOf = (event: number): number => (history.isRecorded ? history.serialAt(event) : history.kindAt(event));
  const positions = history.positionsOfJob(row);
  let first = 0;
  if (after !== undefined) {
    const view = new DataView(after.buffer, after.byteOffset, after.length);
    if (after.length !== TIME_BYTES + (history.isRecorded ? 4 : 1)) return undefined;
    const timeMs = view.getFloat64(0);
    const order = history.isRecorded ? view.getUint32(TIME_BYTES) : view.getUint8(TIME_BYTES);
    if (!isTime(timeMs) || (!history.isRecorded && order >= HISTORY_KINDS.length)) return undefined;
    first = firstWhere(0, positions.length, (place) => {
      const time = history.timeAt(positions[place]!);
      return time > timeMs || (time === timeMs && orderOf(positions[place]!) > order);
    });
  }
  const page = [...positions.subarray(first, first + limit)];
  const events = listedEvents(snapshot, page);
  if (first + limit >= positions.length) return { events, next: null };
  const last = page.at(-1)!;
  const next = new Uint8Array(TIME_BYTES + (history.isRecorded ? 4 : 1));
  const view = new DataView(next.buffer);
  view.setFloat64(0, history.timeAt(last));
  if (history.isRecorded) view.setUint32(TIME_BYTES, orderOf(last));
  else view.setUint8(TIME_BYTES, orderOf(last));
  history.requireUnchanged();
  return { events, next };
}
