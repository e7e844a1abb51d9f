/** The events and feeds of a history, and the query that selects them. */
import type { EventKind } from '../../ingest/history/observation.ts';

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
export function conditionOf(
  query: HistoryQuery,
  table: 'event' | 'feed',
): { where: string; values: (string | number)[] } {
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
