/** A catalogue's folder with watched boards of every health, for tests of what the operator sees. */
import type { Board } from '../../src/ingest/boards/board.ts';
import type { FetchState } from '../../src/ingest/boards/fetch-state.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';

const HOUR_MS = 3_600_000;

export const stateOf = (nowMs: number, changed: Partial<FetchState>): FetchState => ({
  health: 'ok',
  lastFetchMs: nowMs - HOUR_MS,
  lastOkMs: nowMs - HOUR_MS,
  httpStatus: 200,
  reason: null,
  failures: 0,
  rows: 100,
  lastRows: 100,
  validators: null,
  ...changed,
});

interface Watched {
  readonly board: Board;
  /** Ages before now; undefined: never fetched. */
  readonly state?: (nowMs: number) => FetchState;
  /** Due so long after now, milliseconds. */
  readonly dueMs: number;
}

const board = (shape: Board['shape'], token: string, more: Partial<Board> = {}): Board => ({
  shape,
  token,
  company: null,
  domain: null,
  address: `https://${shape}.example/${encodeURIComponent(token)}`,
  ...more,
});

export const WATCHED: readonly Watched[] = [
  {
    board: board('greenhouse', 'acme', { company: 'Acme, Inc.' }),
    state: (nowMs) => stateOf(nowMs, {}),
    dueMs: HOUR_MS,
  },
  {
    board: board('greenhouse', 'shrunk'),
    state: (nowMs) =>
      stateOf(nowMs, {
        health: 'unhealthy',
        reason: '3 jobs, where 100 are usual',
        lastRows: 3,
        failures: 2,
        lastOkMs: nowMs - 48 * HOUR_MS,
      }),
    dueMs: HOUR_MS,
  },
  {
    board: board('ashby', '<img src=x onerror=alert(1)>'),
    state: (nowMs) =>
      stateOf(nowMs, {
        health: 'failed',
        reason: 'status 503',
        httpStatus: 503,
        lastRows: null,
        failures: 5,
        lastFetchMs: nowMs - 100 * HOUR_MS,
        lastOkMs: nowMs - 200 * HOUR_MS,
      }),
    dueMs: -50 * HOUR_MS,
  },
  {
    board: board('lever', 'away'),
    state: (nowMs) =>
      stateOf(nowMs, {
        health: 'gone',
        reason: 'status 404',
        httpStatus: 404,
        lastRows: null,
        lastOkMs: nowMs - 72 * HOUR_MS,
      }),
    dueMs: HOUR_MS,
  },
  { board: board('workable', 'fresh'), dueMs: 0 },
];

/** Fills the folder. @param nowMs milliseconds since the epoch */
export function watchedFolder(folder: string, nowMs = Date.now()): void {
  const history = HistoryDatabase.openForSettings(folder);
  try {
    const tables = new BoardTables(history);
    for (const { board: one, state, dueMs } of WATCHED) {
      tables.put(one, nowMs - 1000 * HOUR_MS);
      if (state !== undefined) tables.store(`${one.shape}:${one.token}`, state(nowMs), nowMs + dueMs);
    }
    const nothing = { fetches: 1, opened: 0, changed: 0, closed: 0, reopened: 0 };
    tables.addToDay('greenhouse:acme', nowMs, { ...nothing, opened: 1200, changed: 2 });
    tables.addToDay('greenhouse:acme', nowMs - 24 * HOUR_MS, { ...nothing, opened: 5, closed: 12, reopened: 1 });
    tables.addToDay('greenhouse:shrunk', nowMs, { ...nothing, opened: 2, changed: 1 });
    history.commit();
  } finally {
    history.close();
  }
}
