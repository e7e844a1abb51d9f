/**
 * Stores the result of a visit of a board in one transaction: the jobs, their events, and the watcher's state of the
 * board. If the process dies before the commit, the board counts as not visited; after it, the visit is permanent.
 */
import type { FeedFailure, FetchedFeed } from '../../adapters/boards/feed-fetch.ts';
import type { Clock } from '../../base/clock.ts';
import { sha256OfParts } from '../../base/digest.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import type { BoardHealth } from '../../catalogue/watched-boards.ts';
import type { FetchState } from '../../ingest/boards/fetch-state.ts';
import type { SkillExtractor } from '../../ingest/skills/skills.ts';
import {
  nextTryMs,
  nextVisitMs,
  RETRY_AFTER_MAX_MS,
  VISITS_KEPT,
  type Visit,
  type VisitBounds,
} from '../../ingest/watch/schedule.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { HistoryImport } from '../../storage/history/import.ts';
import type { FeedOutcome } from '../../storage/history/merge.ts';
import type { FoundDetails } from './details.ts';
import { takeFeed } from './take-feed.ts';
import { NOTHING, type VisitReport } from './visit-line.ts';

export interface VisitSettings {
  readonly history: HistoryDatabase;
  readonly tables: BoardTables;
  readonly skills: SkillExtractor;
  readonly bounds: VisitBounds;
  /** Evenly from 0 (included) to 1 (excluded). */
  readonly draw: () => number;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** A visit that is not stored yet. */
export interface MadeVisit {
  readonly board: WatchedBoard;
  readonly fetched: FetchedFeed;
  /** When the board was asked, milliseconds since the epoch. */
  readonly atMs: number;
}

type Counts = Pick<FeedOutcome, 'rows' | 'new' | 'changed' | 'closed' | 'reopened'>;

interface Failure {
  readonly health: Exclude<BoardHealth, 'new' | 'ok' | 'partial'>;
  readonly status: number | null;
  readonly reason: string;
  readonly retryAfterMs: number | null;
  /** null: no answer with rows to count. */
  readonly rows: number | null;
}

/**
 * A merge is undone within the transaction: between two transactions a waiting import would get the lock, for as long
 * as it runs.
 */
const MERGE_BEGINS = 'SAVEPOINT merge';
const TAKE_MERGE_BACK = 'ROLLBACK TO merge';

const newImport = ({ history, skills }: VisitSettings): HistoryImport =>
  new HistoryImport(history, { mayHaveDays: false, skillsVersion: skills.version });

/** null: the pages alone do not determine the feed. */
const pagesDigestOf = ({ pages, partialReason, standing }: Extract<FetchedFeed, { kind: 'feed' }>): string | null =>
  partialReason === null && standing.length === 0 ? sha256OfParts(pages) : null;

/**
 * @param settings of a history in a transaction, which this ends
 * @returns undefined when the board was removed or got another address meanwhile: nothing of the visit is kept
 * @throws HistoryError
 */
export async function keepVisit(made: MadeVisit, settings: VisitSettings): Promise<VisitReport | undefined> {
  const { history, tables } = settings;
  try {
    const board = tables.find(made.board.name);
    if (board?.address !== made.board.address) return undefined;
    const visit = { ...made, board };
    history.exec(MERGE_BEGINS);
    const merging = newImport(settings);
    const found = await take(merging, visit, settings);
    if (!('health' in found)) return keepFeed(merging, found, visit, settings);
    history.exec(TAKE_MERGE_BACK);
    return keepFailure(newImport(settings), found, visit, settings);
  } finally {
    history.rollback();
  }
}

/**
 * Stores descriptions fetched after the list, as a partial feed, and which requests failed.
 * @param isMore more descriptions are missing: the board is due again as soon as allowed
 * @param settings of a history in a transaction, which this ends
 * @throws HistoryError
 */
export async function keepDetails(
  { name }: WatchedBoard,
  { page, asked }: FoundDetails,
  { atMs, isMore }: { readonly atMs: number; readonly isMore: boolean },
  settings: VisitSettings,
): Promise<void> {
  const { bounds, history, skills, tables } = settings;
  try {
    const board = tables.find(name);
    if (board === undefined) return; // removed meanwhile
    history.exec(MERGE_BEGINS);
    let merging = newImport(settings);
    const feed = page && { board, pages: [page], atMs, isComplete: false };
    if (feed !== null && (await takeFeed(merging, feed, skills)).kind !== 'taken') {
      history.exec(TAKE_MERGE_BACK);
      merging = newImport(settings);
    }
    tables.keepDetailTries(name, asked, atMs);
    if (board.state !== null) {
      // The fetch ends only now: a snapshot built since the list lacks these descriptions.
      const state: FetchState = { ...board.state, lastFetchMs: atMs };
      tables.store(name, state, isMore ? Math.min(board.nextMs, atMs + bounds.minMs) : board.nextMs);
    }
    merging.markWritten();
    merging.commit();
  } finally {
    history.rollback();
  }
}

/** Puts boards off (`BoardTables.postpone`). @param settings of a history in a transaction, which this ends @throws HistoryError */
export function keepPostponed(names: readonly string[], untilMs: number, { history, tables }: VisitSettings): void {
  try {
    tables.postpone(names, untilMs);
    history.commit();
  } finally {
    history.rollback();
  }
}

interface Found {
  readonly counts: Counts;
  /** Records of the list that were refused. */
  readonly refused: number;
  readonly isUnchanged: boolean;
  readonly partialReason: string | null;
}

const failureOf = ({ isGone, status, reason, retryAfterMs }: FeedFailure): Failure => ({
  health: isGone ? 'gone' : 'failed',
  status,
  reason,
  retryAfterMs,
  rows: null,
});

/**
 * Whether the jobs of a board are those of its last whole feed, read with the current skills: then the same feed need
 * not be read again. A feed later than the visit was fetched while the clock ran ahead: its jobs are not those of the
 * last feed before the visit.
 */
export const isUpToDate = (
  { shape, token, state }: WatchedBoard,
  atMs: number,
  { history, skills }: Pick<VisitSettings, 'history' | 'skills'>,
): boolean => {
  if (state?.skillsVersion !== skills.version || state.lastOkMs === null || state.lastOkMs >= atMs) return false;
  return HistoryImport.lastFeedMs(history, shape, token) === state.lastOkMs;
};

async function take(
  merging: HistoryImport,
  { board, fetched, atMs }: MadeVisit,
  settings: VisitSettings,
): Promise<Found | Failure> {
  if (fetched.kind === 'failed') return failureOf(fetched);
  const failed = { status: fetched.status, retryAfterMs: null };
  if (fetched.kind === 'unchanged') {
    const counts = merging.repeatLast(board.shape, board.token, atMs);
    if (counts !== undefined) return { counts, refused: 0, isUnchanged: true, partialReason: null };
    return { ...failed, health: 'failed', reason: 'a 304 for a board without a feed', rows: null };
  }
  const { pages, partialReason, standing } = fetched;
  const isSame = board.state?.pagesDigest != null && board.state.pagesDigest === pagesDigestOf(fetched);
  if (isSame && isUpToDate(board, atMs, settings)) {
    const counts = merging.repeatLast(board.shape, board.token, atMs);
    if (counts !== undefined) return { counts, refused: 0, isUnchanged: false, partialReason: null };
  }
  const feed = { board, pages, atMs, isComplete: partialReason === null, standing };
  const taken = await takeFeed(merging, feed, settings.skills);
  switch (taken.kind) {
    case 'taken': {
      const { feed: counts, refused } = taken;
      const nameless = counts.hasNameless ? 'a record has no id of its own, so it may be any of its jobs' : null;
      return { counts, refused, isUnchanged: false, partialReason: partialReason ?? nameless };
    }
    case 'unreadable':
      return { ...failed, health: 'failed', reason: taken.reason, rows: null };
    case 'unhealthy': {
      const { rows, usualRows } = taken;
      const reason = `${quantity(rows, 'row')}, where ${grouped(Math.round(usualRows))} are usual`;
      return { ...failed, health: 'unhealthy', reason, rows };
    }
    default:
      return taken satisfies never;
  }
}

function keepFeed(
  merging: HistoryImport,
  { counts, refused, isUnchanged, partialReason }: Found,
  { board, fetched, atMs }: MadeVisit,
  { tables, skills, bounds, draw, clock }: VisitSettings,
): VisitReport {
  const known = board.state;
  const isChanged = counts.new + counts.changed + counts.closed + counts.reopened > 0;
  const visits: Visit[] = [...(known?.visits ?? []), { atMs, isChanged }].slice(-VISITS_KEPT);
  const nextMs = nextVisitMs(visits, bounds, atMs, draw());
  const isWhole = partialReason === null;
  // A 304 may bring new validators or none; without new ones the old ones stay valid.
  const validators = fetched.kind === 'feed' ? fetched.validators : (known?.validators ?? null);
  // No digest if records were refused, so that the list is read again and their number reported.
  const pagesDigest = fetched.kind !== 'feed' ? known?.pagesDigest : refused === 0 ? pagesDigestOf(fetched) : null;
  const state: FetchState = {
    health: isWhole ? 'ok' : 'partial',
    lastFetchMs: clock.nowMs(),
    lastOkMs: isWhole ? atMs : (known?.lastOkMs ?? null),
    httpStatus: fetched.status,
    reason: partialReason,
    failures: isWhole ? 0 : (known?.failures ?? 0) + 1,
    rows: counts.rows,
    lastRows: counts.rows,
    validators: isWhole ? validators : null,
    pagesDigest: pagesDigest ?? null,
    visits,
    skillsVersion: isUnchanged ? (known?.skillsVersion ?? '') : skills.version,
  };
  const { rows, changed, closed, reopened } = counts;
  tables.store(board.name, state, nextMs);
  tables.addToDay(board.name, atMs, { fetches: 1, opened: counts.new, changed, closed, reopened });
  merging.markWritten();
  merging.commit();
  return {
    board: board.name,
    status: isUnchanged ? 'unchanged' : 'ok',
    http_status: fetched.status,
    rows,
    new: counts.new,
    changed,
    closed,
    reopened,
    next_at: isoTime(nextMs),
    ...(refused === 0 ? {} : { refused }),
    ...(partialReason === null ? {} : { reason: partialReason }),
  };
}

function keepFailure(
  merging: HistoryImport,
  { health, status, reason, retryAfterMs, rows }: Failure,
  { board, atMs }: MadeVisit,
  { tables, bounds, draw, clock }: VisitSettings,
): VisitReport {
  const known = board.state;
  const failures = (known?.failures ?? 0) + 1;
  const nextMs = nextTryMs(failures, bounds, clock.nowMs(), { draw: draw(), retryAfterMs });
  const state: FetchState = {
    rows: null,
    lastOkMs: null,
    validators: null,
    ...known,
    health,
    lastFetchMs: clock.nowMs(),
    httpStatus: status,
    reason,
    failures,
    lastRows: rows,
    ...(retryAfterMs === null ? {} : { heldUntilMs: clock.nowMs() + Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) }),
  };
  tables.store(board.name, state, nextMs);
  tables.addToDay(board.name, atMs, { fetches: 1, opened: 0, changed: 0, closed: 0, reopened: 0 });
  merging.markWritten();
  merging.commit();
  return {
    board: board.name,
    status: health === 'unhealthy' ? 'unhealthy' : 'failed',
    http_status: status,
    ...NOTHING,
    rows: rows ?? 0,
    next_at: isoTime(nextMs),
    reason,
  };
}
