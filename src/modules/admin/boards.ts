/**
 * GET /admin/v1/boards: the watched boards, those that need the operator first, the events of each day, and the companies of
 * the served catalogue that no buyer can ask for because their domain is unknown.
 */
import * as v from 'valibot';
import { adminToken } from '../../access/admin-token.ts';
import { missingDomains } from '../../catalogue/questions/missing-domains.ts';
import { comparedText } from '../../catalogue/terms.ts';
import {
  BOARD_HEALTHS,
  type BoardHealth,
  countByHealth,
  isOverdue,
  type ShownBoard,
} from '../../catalogue/watched-boards.ts';
import { Refusal, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { integer, moment, oneOf, rule } from '../parameter-rules.ts';
import {
  boardDayRecord,
  boardDayRecordOf,
  boardRecord,
  boardRecordOf,
  healthCounts,
  missingCompany,
} from './board-records.ts';
import { envelope, metaAt } from './envelope.ts';
import { fromBoards } from './from-boards.ts';
import type { BoardsServices } from './services.ts';

/** Boards per answer. */
const BOARDS_MAX = 500;
/** Twice the length of a rank and the longest name. */
const CURSOR_LENGTH_MAX = 500;
/** Companies without a domain per answer: those with the most jobs. */
const COMPANIES_MAX = 50;

/** The healths that need the operator come first. */
const RANK: Readonly<Record<BoardHealth, number>> = { gone: 0, unhealthy: 1, failed: 2, partial: 3, new: 4, ok: 5 };

/**
 * A board's position in the answer, as text that sorts in that order: rank, overdue before others, name. It is the cursor too:
 * fetches move boards between two requests, and a board that keeps its position is given once.
 */
const placeOf = (board: ShownBoard, nowMs: number): string =>
  `${RANK[board.health]}${isOverdue(board, nowMs) ? 0 : 1}${board.name}`;

const boardsCursor = v.pipe(
  v.string(),
  v.regex(/^[0-5][01]./),
  v.maxLength(CURSOR_LENGTH_MAX),
  rule({ rule: 'a `next_cursor` of this route', jsonSchema: { maxLength: CURSOR_LENGTH_MAX } }),
);

export const boardsAnswer = envelope(
  v.strictObject({
    boards: v.array(boardRecord),
    matching_boards: v.number(),
    next_cursor: v.nullable(v.string()),
    health: healthCounts,
    overdue: v.number(),
    days: v.array(boardDayRecord),
    companies_without_domain: v.array(missingCompany),
    total_companies_without_domain: v.number(),
  }),
);

export const listBoards = route<BoardsServices>()({
  operation: 'listBoards',
  method: 'GET',
  path: '/admin/v1/boards',
  summary: 'Watched boards, what the days brought, and the companies without a domain',
  access: [adminToken],
  query: v.strictObject({
    since: v.optional(moment),
    health: v.optional(oneOf(BOARD_HEALTHS)),
    limit: v.optional(integer(1, BOARDS_MAX), 100),
    cursor: v.optional(boardsCursor, ''),
  }),
  answer: boardsAnswer,
  errors: [STATE_UNAVAILABLE],
  examples: { query: { since: '2026-11-01', health: 'failed' } },
  handle(input, { boards: source, catalogue, clock }) {
    const nowMs = clock.nowMs();
    const view = fromBoards(() => source.read(input.since ?? 0));
    if (view instanceof Refusal) return view;
    const { boards, days, statedNames } = view;
    const matching = boards.filter(({ health }) => input.health === undefined || health === input.health);
    const ahead = matching
      .map((board) => ({ board, place: placeOf(board, nowMs) }))
      .filter(({ place }) => place > input.cursor)
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    const shown = ahead.slice(0, input.limit);
    const snapshot = catalogue.current()?.catalogue.snapshot;
    const missing =
      snapshot === undefined
        ? { companies: [], companyCount: 0 }
        : missingDomains(snapshot, COMPANIES_MAX, (name) => statedNames.has(comparedText(name)));
    return {
      data: {
        boards: shown.map(({ board }) => boardRecordOf(board, nowMs)),
        matching_boards: matching.length,
        next_cursor: shown.length < ahead.length ? (shown.at(-1)?.place ?? null) : null,
        health: countByHealth(boards),
        overdue: boards.filter((board) => isOverdue(board, nowMs)).length,
        days: days.map(boardDayRecordOf),
        companies_without_domain: missing.companies.map(({ name, activeJobs }) => ({
          company: name,
          active_jobs: activeJobs,
        })),
        total_companies_without_domain: missing.companyCount,
      },
      meta: metaAt(nowMs),
    };
  },
});
