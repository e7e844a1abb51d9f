/** The watched boards as the operator's routes write them. */
import * as v from 'valibot';
import { isoDate, isoTimeOrNull } from '../../base/iso-time.ts';
import { BOARD_HEALTHS, type BoardDaySum, isOverdue, type ShownBoard } from '../../catalogue/watched-boards.ts';
import { count, dateTime } from '../answer-values.ts';

/** `jobs`: of the last accepted feed; `last_jobs`: of the last fetch, even if it was refused. */
export const boardRecord = v.strictObject({
  board: v.string(),
  company: v.nullable(v.string()),
  domain: v.nullable(v.string()),
  address: v.string(),
  health: v.picklist(BOARD_HEALTHS),
  jobs: v.nullable(count),
  last_jobs: v.nullable(count),
  last_fetch_at: v.nullable(dateTime),
  last_ok_at: v.nullable(dateTime),
  next_at: v.nullable(dateTime),
  overdue: v.boolean(),
  http_status: v.nullable(count),
  reason: v.nullable(v.string()),
});

/** `next_at` is null for a board that is due at once. */
export const boardRecordOf = (board: ShownBoard, nowMs: number): v.InferInput<typeof boardRecord> => ({
  board: board.name,
  company: board.company,
  domain: board.domain,
  address: board.address,
  health: board.health,
  jobs: board.jobs,
  last_jobs: board.lastJobs,
  last_fetch_at: isoTimeOrNull(board.lastFetchMs),
  last_ok_at: isoTimeOrNull(board.lastOkMs),
  next_at: isoTimeOrNull(board.nextMs === 0 ? null : board.nextMs),
  overdue: isOverdue(board, nowMs),
  http_status: board.httpStatus,
  reason: board.reason,
});

export const boardDayRecord = v.strictObject({
  day: v.pipe(v.string(), v.isoDate()),
  fetches: count,
  opened: count,
  changed: count,
  closed: count,
  reopened: count,
});

export const boardDayRecordOf = ({ dayMs, ...counts }: BoardDaySum): v.InferInput<typeof boardDayRecord> => ({
  day: isoDate(dayMs),
  fetches: counts.fetches,
  opened: counts.opened,
  changed: counts.changed,
  closed: counts.closed,
  reopened: counts.reopened,
});

export const healthCounts = v.strictObject(
  Object.fromEntries(BOARD_HEALTHS.map((health) => [health, count])) as Record<
    (typeof BOARD_HEALTHS)[number],
    typeof count
  >,
);

export const missingCompany = v.strictObject({ company: v.string(), active_jobs: count });
