/**
 * Handles boards that were fetched while this machine's clock ran ahead: once it is set back, they would not be due until it
 * reaches those times again. Recorded observations keep their times, so a feed that is fetched now counts as a late one.
 */
import { HOUR_MS } from '../../base/durations.ts';
import { quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import type { FetchState } from '../../ingest/boards/fetch-state.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';

/** A smaller correction of the clock makes no board due. */
const AHEAD_MS = HOUR_MS;

export const isFetchedAhead = ({ state }: WatchedBoard, nowMs: number): boolean =>
  state !== null && state.lastFetchMs > nowMs + AHEAD_MS;

/** A board that was never fetched is due at once, unless it was put off with its host. */
export const heldUntilMs = ({ nextMs, state }: WatchedBoard): number =>
  state === null ? nextMs : (state.heldUntilMs ?? 0);

/**
 * Boards to make due: those fetched while the clock ran ahead and, if there are any, all that are put off, because
 * their hosts may have failed in that time too.
 */
export function setBackBoards(boards: readonly WatchedBoard[], nowMs: number): WatchedBoard[] {
  if (!boards.some((board) => isFetchedAhead(board, nowMs))) return [];
  return boards.filter((board) => isFetchedAhead(board, nowMs) || heldUntilMs(board) > nowMs);
}

const stateBefore = (state: FetchState, nowMs: number): FetchState => ({
  ...state,
  lastFetchMs: Math.min(state.lastFetchMs, nowMs),
  lastOkMs: state.lastOkMs === null ? null : Math.min(state.lastOkMs, nowMs),
  heldUntilMs: 0,
});

/** Makes them due. Caps their last fetch at now; a host that wants a pause will ask for it again. */
export function makeDue(boards: readonly WatchedBoard[], nowMs: number, tables: BoardTables): void {
  for (const { name, state } of boards) {
    tables.store(name, state && stateBefore(state, nowMs), 0);
  }
}

/** The warning for the operator. */
export function setBackLine(boards: readonly WatchedBoard[]): string {
  const latest = isoTime(Math.max(...boards.map(({ state }) => state?.lastFetchMs ?? 0)));
  return (
    `warning: the clock ran ahead, to ${latest}, and was set back: fetching ${quantity(boards.length, 'board')} again; ` +
    'jobs observed meanwhile neither change nor close before that time\n'
  );
}
