/**
 * The watched boards of a catalogue: the list that `boards` edits, and the watcher's state of each board (fetch-state.ts). They
 * are in the history's file, so that a fetch's jobs and the board's new state become permanent in one transaction.
 */
import { DAY_MS } from '../../base/durations.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { BoardDaySum } from '../../catalogue/watched-boards.ts';
import { type Board, type BoardShape, entryOf, nameOfBoard } from '../../ingest/boards/board.ts';
import type { DayCounts, FetchState } from '../../ingest/boards/fetch-state.ts';
import type { WatchedEntries } from '../../ingest/shapes/board-manifest.ts';
import { DETAIL_PAUSE_MS_MAX, type DetailTries } from '../../ingest/watch/schedule.ts';
import type { Row } from '../sqlite/connection.ts';
import type { HistoryDatabase } from './database.ts';

export interface WatchedBoard extends Board {
  /** `shape:token`. */
  readonly name: string;
  readonly addedMs: number;
  /** When it is due; 0 = at once. */
  readonly nextMs: number;
  /** null: it was never fetched. */
  readonly state: FetchState | null;
}

/** Whether a board of the same name has another address. */
const isElsewhere = (board: Board, known: Board): boolean =>
  board.token === known.token
    ? board.address !== known.address
    : board.address.toLowerCase() !== known.address.toLowerCase();

/** Whatever their spelling. @throws HistoryError */
export function watchedEntriesOf(history: HistoryDatabase): WatchedEntries {
  const byName = new Map(new BoardTables(history).list().map((board) => [board.name.toLowerCase(), entryOf(board)]));
  return (shape, token) => byName.get(`${shape}:${token}`.toLowerCase());
}

/** Every method throws HistoryError. Methods that write need a history opened for writing, and do not commit. */
export class BoardTables {
  readonly #history: HistoryDatabase;

  constructor(history: HistoryDatabase) {
    this.#history = history;
  }

  /** In the order of their names. */
  list(): WatchedBoard[] {
    return this.#history.rows('SELECT * FROM watched ORDER BY name').map(boardOf);
  }

  find(name: string): WatchedBoard | undefined {
    return this.#history.rows('SELECT * FROM watched WHERE name = ?', name).map(boardOf)[0];
  }

  /**
   * Adds a board, due at once, or updates a known one: replaces the address, and company and domain if the new board
   * has them. The state stays, but a new address drops its validators and pages and makes it due. The board keeps the
   * spelling of its token, so an address with another spelling is no new one.
   */
  put(board: Board, nowMs: number): 'added' | 'changed' | 'known' {
    const name = nameOfBoard(board);
    const known = this.find(name);
    if (known === undefined) {
      this.#history.run(
        'INSERT INTO watched (name, shape, token, company, domain, address, added_ms, next_ms) VALUES (?, ?, ?, ?, ?, ?, ?, 0)',
        ...[name, board.shape, board.token, board.company, board.domain, board.address, nowMs],
      );
      return 'added';
    }
    const company = board.company ?? known.company;
    const domain = board.domain ?? known.domain;
    const hasMoved = isElsewhere(board, known);
    if (!hasMoved && company === known.company && domain === known.domain) return 'known';
    const state = known.state && hasMoved ? { ...known.state, validators: null, pagesDigest: null } : known.state;
    this.#history.run(
      'UPDATE watched SET company = ?, domain = ?, address = ?, next_ms = ?, state = ? WHERE name = ?',
      ...[company, domain, board.address, hasMoved ? 0 : known.nextMs, stateText(state), name],
    );
    return 'changed';
  }

  /** The board's jobs stay in the catalogue unchanged, and its days stay in the sums. @returns whether there was one */
  remove(name: string): boolean {
    const isKnown = this.find(name) !== undefined;
    this.#history.run('DELETE FROM watched_detail WHERE name = ?', name);
    this.#history.run('DELETE FROM watched_page WHERE name = ?', name);
    this.#history.run('DELETE FROM watched WHERE name = ?', name);
    return isKnown;
  }

  /** Stores the result of a fetch; null: there was none yet. @param nextMs when the board is due again */
  store(name: string, state: FetchState | null, nextMs: number): void {
    this.#history.run('UPDATE watched SET state = ?, next_ms = ? WHERE name = ?', stateText(state), nextMs, name);
  }

  /** Stores that the page at an address led to a board. */
  putPage(address: string, name: string): void {
    this.#history.run('INSERT OR REPLACE INTO watched_page (address, name) VALUES (?, ?)', address, name);
  }

  /** The board to which the page at an address led, if it is still watched. */
  boardOfPage(address: string): WatchedBoard | undefined {
    const sql =
      'SELECT watched.* FROM watched JOIN watched_page ON watched_page.name = watched.name WHERE watched_page.address = ?';
    return this.#history.rows(sql, address).map(boardOf)[0];
  }

  /** Postpones boards that are due before `untilMs`; their state stays. */
  postpone(names: readonly string[], untilMs: number): void {
    const state = "json_set(state, '$.heldUntilMs', ?)";
    const sql = `UPDATE watched SET next_ms = max(next_ms, ?), state = ${state} WHERE name = ?`;
    for (const name of names) this.#history.run(sql, untilMs, untilMs, name);
  }

  /** Failed requests for descriptions, by the id of their job. */
  detailTries(name: string): ReadonlyMap<string, DetailTries> {
    const rows = this.#history.rows('SELECT id, tries, tried_ms FROM watched_detail WHERE name = ?', name);
    return new Map(
      rows.map(({ id, tries, tried_ms }) => [id as string, { tries: tries as number, triedMs: tried_ms as number }]),
    );
  }

  /** Stores that the descriptions of these jobs were requested, and deletes the tries of those that came. */
  keepDetailTries(name: string, asked: readonly string[], atMs: number): void {
    for (const id of asked) {
      const [described] = this.#history.rows('SELECT 1 FROM job WHERE id = ? AND description_digest IS NOT NULL', id);
      if (described !== undefined) this.#history.run('DELETE FROM watched_detail WHERE name = ? AND id = ?', name, id);
      else {
        this.#history.run(
          `INSERT INTO watched_detail (name, id, tries, tried_ms) VALUES (?, ?, 1, ?)
           ON CONFLICT (name, id) DO UPDATE SET tries = tries + 1, tried_ms = excluded.tried_ms`,
          ...[name, id, atMs],
        );
      }
    }
    // Tries for jobs that are no longer listed.
    this.#history.run(
      'DELETE FROM watched_detail WHERE name = ? AND tried_ms < ?',
      name,
      atMs - 2 * DETAIL_PAUSE_MS_MAX,
    );
  }

  /** Adds to the counts of the day of `atMs`. */
  addToDay(name: string, atMs: number, counts: DayCounts): void {
    this.#history.run(
      `INSERT INTO watched_day (name, day, fetches, opened, changed, closed, reopened) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name, day) DO UPDATE SET fetches = fetches + excluded.fetches, opened = opened + excluded.opened,
       changed = changed + excluded.changed, closed = closed + excluded.closed, reopened = reopened + excluded.reopened`,
      ...[
        name,
        Math.floor(atMs / DAY_MS),
        counts.fetches,
        counts.opened,
        counts.changed,
        counts.closed,
        counts.reopened,
      ],
    );
  }

  /** Days with fetches from the day of `sinceMs` on, oldest first, all boards together. */
  days(sinceMs: number): BoardDaySum[] {
    const sql = `SELECT day, sum(fetches) AS fetches, sum(opened) AS opened, sum(changed) AS changed, sum(closed) AS closed,
      sum(reopened) AS reopened FROM watched_day WHERE day >= ? GROUP BY day ORDER BY day`;
    return this.#history.rows(sql, Math.floor(sinceMs / DAY_MS)).map((row) => ({
      dayMs: (row.day as number) * DAY_MS,
      fetches: row.fetches as number,
      opened: row.opened as number,
      changed: row.changed as number,
      closed: row.closed as number,
      reopened: row.reopened as number,
    }));
  }
}

const stateText = (state: FetchState | null): string | null => (state === null ? null : JSON.stringify(state));

function boardOf(row: Row): WatchedBoard {
  return {
    name: row.name as string,
    shape: row.shape as BoardShape,
    token: row.token as string,
    company: row.company as string | null,
    domain: row.domain as CompanyDomain | null,
    address: row.address as string,
    addedMs: row.added_ms as number,
    nextMs: row.next_ms as number,
    state: row.state === null ? null : (JSON.parse(row.state as string) as FetchState),
  };
}
