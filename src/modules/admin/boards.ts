/**
 * GET /admin/v1/boards: the watched boards, those that need the operator first, what the days brought, and the companies of the
 * served catalogue that no buyer can ask for because their domain is unknown.
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
import { integer, moment, oneOf } from '../parameter-rules.ts';
import {
  boardDayRecord,
  boardDayRecordOf,
  boardRecord,
  boardRecordOf,
  healthCounts,
  missingCompany,
} from './board-records.ts';
import { fromBoards } from './from-boards.ts';
import { envelope, metaAt } from './sale-record.ts';
import type { BoardsServices } from './services.ts';

/** Boards an answer. */
const BOARDS_MAX = 500;
const PAGES_MAX = 999;
/** Companies without a domain an answer: those that hide most jobs. */
const COMPANIES_MAX = 50;

/** The ones that need the operator first. */
const RANK: Readonly<Record<BoardHealth, number>> = { gone: 0, unhealthy: 1, failed: 2, partial: 3, new: 4, ok: 5 };

const byNeed =
  (nowMs: number) =>
  (a: ShownBoard, b: ShownBoard): number =>
    RANK[a.health] - RANK[b.health] ||
    Number(isOverdue(b, nowMs)) - Number(isOverdue(a, nowMs)) ||
    (a.name < b.name ? -1 : 1);

export const boardsAnswer = envelope(
  v.strictObject({
    boards: v.array(boardRecord),
    matching_boards: v.number(),
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
    page: v.optional(integer(1, PAGES_MAX), 1),
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
    const from = (input.page - 1) * input.limit;
    const shown = matching.sort(byNeed(nowMs)).slice(from, from + input.limit);
    const snapshot = catalogue.current()?.catalogue.snapshot;
    const missing =
      snapshot === undefined
        ? { companies: [], companyCount: 0 }
        : missingDomains(snapshot, COMPANIES_MAX, (name) => statedNames.has(comparedText(name)));
    return {
      data: {
        boards: shown.map((board) => boardRecordOf(board, nowMs)),
        matching_boards: matching.length,
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
