/**
 * The watched boards behind a catalogue, as the server shows them to its operator: the port that `CATALOGUE` opens. The
 * watcher owns the list, the fetches and their rules (ingest/boards/, storage/history/board-tables.ts).
 */
import { HOUR_MS } from '../base/durations.ts';
import type { CompanyDomain } from './company-domain.ts';

/**
 * Health of a board. `new`: never fetched. `ok`: the last fetch was a whole, believable feed (or an unchanged one). `partial`:
 * it answers, but not with everything, so no job is closed. `unhealthy`: it answers with far fewer jobs than usual, so its jobs
 * were not changed. `failed`: no usable answer. `gone`: the board's address no longer exists (404, 410).
 */
export const BOARD_HEALTHS = ['new', 'ok', 'partial', 'unhealthy', 'failed', 'gone'] as const;
export type BoardHealth = (typeof BOARD_HEALTHS)[number];

/** Times are milliseconds since the epoch, UTC. */
export interface ShownBoard {
  /** `shape:token`. */
  readonly name: string;
  readonly company: string | null;
  readonly domain: CompanyDomain | null;
  readonly address: string;
  readonly health: BoardHealth;
  /** Jobs of the last accepted feed. */
  readonly jobs: number | null;
  /** Jobs of the last fetch, even if it was refused. */
  readonly lastJobs: number | null;
  readonly lastFetchMs: number | null;
  readonly lastOkMs: number | null;
  /** 0 = at once. */
  readonly nextMs: number;
  readonly httpStatus: number | null;
  /** Why it is not `ok`, one line. */
  readonly reason: string | null;
}

/** What the fetches of a UTC day found, all boards together. */
export interface BoardDaySum {
  /** Its midnight. */
  readonly dayMs: number;
  readonly fetches: number;
  readonly opened: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
}

export interface WatchedBoardsView {
  /** In the order of their names. */
  readonly boards: readonly ShownBoard[];
  /** Days with fetches, oldest first. */
  readonly days: readonly BoardDaySum[];
  /** Compared names of companies whose domain the operator has stated. */
  readonly statedNames: ReadonlySet<string>;
}

/** The list cannot be read or changed now: an import is writing, or the folder is away. The message is one line for the operator. */
export class BoardsUnavailableError extends Error {}

export interface WatchedBoards {
  /** @param sinceMs of the days @throws BoardsUnavailableError */
  read(sinceMs: number): WatchedBoardsView;
  /**
   * Stores the operator's word about a company, by its name or `shape:token`; the next build applies it. @throws
   * BoardsUnavailableError
   */
  stateDomain(company: string, domain: CompanyDomain): void;
}

/** How many boards have each health. */
export function countByHealth(boards: readonly Pick<ShownBoard, 'health'>[]): Record<BoardHealth, number> {
  const counts = { new: 0, ok: 0, partial: 0, unhealthy: 0, failed: 0, gone: 0 };
  for (const { health } of boards) counts[health]++;
  return counts;
}

/** A board overdue by this much was missed: the watcher does not run or cannot keep up. */
const OVERDUE_MS = HOUR_MS;

/** Whether the watcher should have fetched it. */
export const isOverdue = ({ nextMs, lastFetchMs }: ShownBoard, nowMs: number): boolean =>
  lastFetchMs !== null && nextMs + OVERDUE_MS < nowMs;
