/** What `watch` reports about a visit of a board: one object for programs, one line for people. */
import { grouped, quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import { printable } from '../../base/printable.ts';

/** Members as `--json` prints them. */
export interface VisitReport {
  /** `shape:token`. */
  readonly board: string;
  readonly status: 'ok' | 'unchanged' | 'unhealthy' | 'failed';
  /** null: there was no answer. */
  readonly http_status: number | null;
  /** Jobs that the board listed. */
  readonly rows: number;
  readonly new: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
  readonly next_at: string;
  /** Refused records of the list; absent when there are none. */
  readonly refused?: number;
  /** Why it is not `ok` or not complete; absent otherwise. */
  readonly reason?: string;
}

/** Counts of a visit that took no feed. */
export const NOTHING = { rows: 0, new: 0, changed: 0, closed: 0, reopened: 0 };

/** The report of a board that was not visited, because its host fails or asked for a pause. */
export const unvisited = (
  board: string,
  { host, untilMs }: { readonly host: string; readonly untilMs: number },
): VisitReport => ({
  board,
  status: 'failed',
  http_status: null,
  ...NOTHING,
  next_at: isoTime(untilMs),
  reason: `not asked: ${host} fails or asks for fewer requests`,
});

export const visitJson = (report: VisitReport): string => `${JSON.stringify(report)}\n`;

export function visitLine(report: VisitReport): string {
  const { board, status, rows, changed, closed, reopened, refused, reason, next_at } = report;
  const counts =
    status === 'ok' || status === 'unchanged'
      ? `${quantity(rows, 'job')}, ${grouped(report.new)} new, ${grouped(changed)} changed, ${grouped(closed)} closed, ${grouped(reopened)} reopened`
      : '';
  const left = refused === undefined ? '' : `${quantity(refused, 'record')} refused`;
  const parts = [status, counts, left, reason ?? ''].filter((part) => part !== '').join('; ');
  return `${printable(`${board}: ${parts}`, 400)}; next ${next_at}\n`;
}
