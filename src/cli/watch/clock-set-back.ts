/**
 * Boards that were fetched while this machine's clock ran ahead, once it has been set back: they would not be due before the clock
 * comes there again. What the catalogue observed keeps its time; beside it a feed of now is a late one.
 */
import { dateTimeOf } from '../../base/date-time.ts';
import { quantity } from '../../base/grouped.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';

/** A clock that is corrected by less has no board visited twice. */
const AHEAD_MS = 3_600_000;

export const isFetchedAhead = ({ state }: WatchedBoard, nowMs: number): boolean =>
  state !== null && state.lastFetchMs > nowMs + AHEAD_MS;

/** Makes them due. Their last fetch cannot have ended later than now; a host that wants to be left alone says so again. */
export function makeDue(boards: readonly WatchedBoard[], nowMs: number, tables: BoardTables): void {
  for (const { name, state } of boards) {
    if (state !== null) tables.store(name, { ...state, lastFetchMs: nowMs, heldUntilMs: 0 }, 0);
  }
}

/** For the operator. */
export function setBackLine(boards: readonly WatchedBoard[]): string {
  const latest = dateTimeOf(Math.max(...boards.map(({ state }) => state?.lastFetchMs ?? 0)));
  return (
    `warning: ${quantity(boards.length, 'board')} fetched up to ${latest} by a clock that was set back since: fetched again now; ` +
    'jobs that were observed later than now neither change nor close before that time\n'
  );
}
