/** The events and feeds of a history, and the query that selects them. */
import type { EventKind } from '../../ingest/history/observation.ts';
import type { HistoryDatabase } from './database.ts';

export interface HistoryEvent {
  readonly atMs: number;
  readonly kind: EventKind;
  readonly id: string;
  readonly title: string;
  readonly company: string;
  readonly shape: string;
  readonly board: string;
  readonly field: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

export interface HistoryFeed {
  readonly atMs: number;
  readonly shape: string;
  readonly board: string;
  readonly rows: number;
  readonly isComplete: boolean;
}

export interface HistoryQuery {
  /** `shape:token`, or a token of any shape, in any case. */
  readonly board?: string;
  readonly job?: string;
  readonly kind?: EventKind;
  /** Both ends included. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** The query as a condition of SQL with its values. */
function conditionOf(query: HistoryQuery, table: 'event' | 'feed'): { where: string; values: (string | number)[] } {
  const values: (string | number)[] = [];
  const conditions: string[] = [];
  const add = (condition: string, ...bound: (string | number)[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  const { board, job, kind, sinceMs, untilMs } = query;
  if (board !== undefined) {
    const name = "board.shape || ':' || board.token";
    add(`(board.token = ? COLLATE NOCASE OR ${name} = ? COLLATE NOCASE)`, board, board);
  }
  if (job !== undefined) add('job.id = ?', job);
  if (kind !== undefined) add('kind = ?', kind);
  if (sinceMs !== undefined) add(`${table}.at_ms >= ?`, sinceMs);
  if (untilMs !== undefined) add(`${table}.at_ms <= ?`, untilMs);
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

/** Events, oldest first. Ends the transaction. @throws HistoryError */
export function* eventsIn(history: HistoryDatabase, query: HistoryQuery): Generator<HistoryEvent, void, void> {
  const { where, values } = conditionOf(query, 'event');
  const sql = `SELECT event.at_ms, kind, job.id, title, company, shape, token, field, before, after
    FROM event JOIN job ON job.serial = event.job JOIN board ON board.serial = job.board ${where}
    ORDER BY event.at_ms, event.serial`;
  for (const row of history.eachOfCopy(sql, ...values)) {
    yield {
      atMs: row.at_ms as number,
      kind: row.kind as EventKind,
      id: row.id as string,
      title: row.title as string,
      company: row.company as string,
      shape: row.shape as string,
      board: row.token as string,
      field: row.field as string | null,
      before: row.before as string | null,
      after: row.after as string | null,
    };
  }
}

/** Feeds, oldest first. Ends the transaction. @throws HistoryError */
export function* feedsIn(
  history: HistoryDatabase,
  query: Pick<HistoryQuery, 'board' | 'sinceMs' | 'untilMs'>,
): Generator<HistoryFeed, void, void> {
  const { where, values } = conditionOf(query, 'feed');
  const sql = `SELECT feed.at_ms, shape, token, rows, is_complete
    FROM feed JOIN board ON board.serial = feed.board ${where} ORDER BY feed.at_ms, shape, token`;
  for (const row of history.eachOfCopy(sql, ...values)) {
    yield {
      atMs: row.at_ms as number,
      shape: row.shape as string,
      board: row.token as string,
      rows: row.rows as number,
      isComplete: row.is_complete === 1,
    };
  }
}
