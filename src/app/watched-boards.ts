/** Opens the watched boards of the catalogue's folder for the operator's routes, and counts them for the metrics. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { DAY_MS } from '../base/durations.ts';
import { printable } from '../base/printable.ts';
import type { Exposition } from '../base/prometheus.ts';
import {
  BoardsUnavailableError,
  countByHealth,
  isOverdue,
  type WatchedBoards,
  type WatchedBoardsView,
} from '../catalogue/watched-boards.ts';
import { closedFolder } from '../storage/folder-fault.ts';
import type { Config } from './configuration.ts';
import type { Server } from './server.ts';

/** Scrapes within this time, milliseconds, share one reading: a thousand boards take some milliseconds. */
const KEPT_MS = 10_000;

/** A notice at start where the folder holds no catalogue, because its name is wrong or nothing has made it yet, or is closed. */
export async function boardsNotices({ catalogue }: Config): Promise<readonly string[]> {
  if (catalogue === null) return [];
  const { HISTORY_FILE } = await import('../storage/history/database.ts');
  const closed = closedFolder(catalogue, HISTORY_FILE);
  if (closed !== undefined) return [`CATALOGUE ${closed}`];
  if (existsSync(join(catalogue, HISTORY_FILE))) return [];
  const missing = `CATALOGUE ${printable(catalogue)}: there is no ${HISTORY_FILE} in it`;
  return [`${missing}; its boards are shown once a watch or an import has made it`];
}

/** Only a server with `CATALOGUE` loads the code that reads its folder. @returns null without it */
export async function openWatchedBoards(
  { catalogue }: Config,
  { clock }: { readonly clock: Clock },
  server: Server,
): Promise<WatchedBoards | null> {
  if (catalogue === null) return null;
  const { WatchedBoardsFile } = await import('../storage/history/watched-boards-file.ts');
  const boards = new WatchedBoardsFile(catalogue);
  let kept: { readonly atMs: number; readonly view: WatchedBoardsView | undefined } | undefined;
  const viewNow = (): WatchedBoardsView | undefined => {
    if (kept === undefined || clock.monotonicMs() - kept.atMs >= KEPT_MS) {
      kept = { atMs: clock.monotonicMs(), view: readable(() => boards.read(clock.nowMs())) };
    }
    return kept.view;
  };
  server.add({ metrics: (page) => writeMetrics(page, viewNow(), clock.nowMs()) });
  return boards;
}

/** undefined while it cannot be read. */
function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (failure) {
    if (failure instanceof BoardsUnavailableError) return undefined;
    throw failure;
  }
}

/** While the list cannot be read, the metrics say only that: counts of 0 would look like removed boards. */
function writeMetrics(page: Exposition, view: WatchedBoardsView | undefined, nowMs: number): void {
  page.single(
    'paygrade_watched_boards_readable',
    'gauge',
    'Whether the list of watched boards can be read (CATALOGUE).',
    view === undefined ? 0 : 1,
  );
  if (view === undefined) return;
  const { boards, days } = view;
  page.family('paygrade_watched_boards', 'gauge', 'Watched boards by health.');
  for (const [health, count] of Object.entries(countByHealth(boards))) page.sample(count, { health });
  const overdue = boards.filter((board) => isOverdue(board, nowMs)).length;
  page.single(
    'paygrade_watched_boards_overdue',
    'gauge',
    'Watched boards that were due an hour ago or earlier.',
    overdue,
  );
  const today = days.find(({ dayMs }) => dayMs === Math.floor(nowMs / DAY_MS) * DAY_MS);
  page.family('paygrade_watched_jobs_today', 'gauge', 'Jobs that fetches of boards found so today, UTC.');
  for (const change of ['opened', 'changed', 'closed', 'reopened'] as const) {
    page.sample(today?.[change] ?? 0, { change });
  }
}
