/**
 * Tracks hosts that fail for one board after another: their remaining boards are postponed, so that neither the round nor the
 * host goes through hundreds of failing requests. In memory only: after a restart the next boards detect it again.
 */
import { MINUTE_MS } from '../../base/durations.ts';
import { nextHostTryMs } from '../../ingest/watch/schedule.ts';

/** Boards in a row for which a host fails before it is paused: with fewer, the boards themselves may be at fault. */
export const HOST_FAILURES_MAX = 5;
/** A host that asks for no pause, and whose failures cost less time than this, is not paused. */
const COST_MS_MAX = 5 * MINUTE_MS;

interface Failing {
  /** Names of the boards that failed in a row. */
  readonly boards: Set<string>;
  /** When the first of their visits began. */
  readonly sinceMs: number;
  /** Pauses since its last answer. */
  times: number;
}

/** A visit that failed. */
interface FailedVisit {
  readonly startMs: number;
  readonly nowMs: number;
  /** The pause that the answer asked for; null = none. */
  readonly retryAfterMs: number | null;
}

export class FailingHosts {
  readonly #draw: () => number;
  readonly #hosts = new Map<string, Failing>();

  /** @param draw evenly from 0 (included) to 1 (excluded) */
  constructor(draw: () => number) {
    this.#draw = draw;
  }

  answered(host: string): void {
    this.#hosts.delete(host);
  }

  /** @returns when the host's other boards are due; undefined = continue. After a pause one failure is enough. */
  failed(host: string, board: string, { startMs, nowMs, retryAfterMs }: FailedVisit): number | undefined {
    const failing = this.#hosts.get(host) ?? { boards: new Set<string>(), sinceMs: startMs, times: 0 };
    this.#hosts.set(host, failing);
    failing.boards.add(board);
    const isCostly = retryAfterMs !== null || nowMs - failing.sinceMs >= COST_MS_MAX;
    if (failing.times === 0 && (failing.boards.size < HOST_FAILURES_MAX || !isCostly)) return undefined;
    failing.times++;
    return nextHostTryMs(failing.times, nowMs, { draw: this.#draw(), retryAfterMs });
  }
}
