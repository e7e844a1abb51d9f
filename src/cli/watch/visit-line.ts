/** What `watch` says about a visit of a board: one object for programs, one line for people. */
import { grouped } from '../../base/grouped.ts';
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
  /** Why it is not `ok` or not everything; absent when there is nothing to say. */
  readonly reason?: string;
}

export const visitJson = (report: VisitReport): string => `${JSON.stringify(report)}\n`;

export function visitLine(report: VisitReport): string {
  const { board, status, rows, changed, closed, reopened, reason, next_at } = report;
  const counts =
    status === 'ok' || status === 'unchanged'
      ? `${grouped(rows)} jobs, ${grouped(report.new)} new, ${grouped(changed)} changed, ${grouped(closed)} closed, ${grouped(reopened)} reopened`
      : '';
  const parts = [status, counts, reason ?? ''].filter((part) => part !== '').join('; ');
  return `${printable(`${board}: ${parts}`, 400)}; next ${next_at}\n`;
}
