/**
 * Boards that were fetched while this machine's clock ran ahead. Once it is set back they would not be due until it reaches those
 * times again. What the catalogue observed keeps its time, so a feed that is fetched now counts as a late one.
 */
import { dateTimeOf } from '../../base/date-time.ts';
import { quantity } from '../../base/grouped.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';

/** A smaller correction of the clock makes no board due. */
const AHEAD_MS = 3_600_000;

export const isFetchedAhead = ({ state }: WatchedBoard, nowMs: number): boolean =>
  state !== null && state.lastFetchMs > nowMs + AHEAD_MS;

/** Makes them due. Their last fetches cannot have ended later than now; a host that wants to be left alone says so again. */
export function makeDue(boards: readonly WatchedBoard[], nowMs: number, tables: BoardTables): void {
  for (const { name, state } of boards) {
    if (state === null) continue;
    const lastOkMs = state.lastOkMs === null ? null : Math.min(state.lastOkMs, nowMs);
    tables.store(name, { ...state, lastFetchMs: nowMs, lastOkMs, heldUntilMs: 0 }, 0);
  }
}

/** The warning for the operator. */
export function setBackLine(boards: readonly WatchedBoard[]): string {
  const latest = dateTimeOf(Math.max(...boards.map(({ state }) => state?.lastFetchMs ?? 0)));
  return (
    `warning: the clock ran ahead, to ${latest}, and was set back: fetching ${quantity(boards.length, 'board')} again; ` +
    'jobs observed meanwhile neither change nor close before that time\n'
  );
}
