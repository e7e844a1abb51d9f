/**
 * Hosts that fail for one board after another: the rest of their boards is left for later, so that neither the round nor the host
 * has to go through hundreds of requests that fail. In memory: after a restart the next boards find it out once more.
 */
import { nextHostTryMs } from '../../ingest/watch/schedule.ts';

/** Boards in a row for which a host fails before it is left alone: fewer may all be sick themselves. */
export const HOST_FAILURES_MAX = 5;
/** A host whose failures cost a round less than this, and that asks for no pause, does not hold it up. */
const COST_MS_MAX = 5 * 60_000;

interface Failing {
  /** Names of those in a row. */
  readonly boards: Set<string>;
  /** When the first of their visits began. */
  readonly sinceMs: number;
  /** Times that it was left alone, since it answered last. */
  times: number;
}

/** A visit that failed. */
interface FailedVisit {
  readonly startMs: number;
  readonly nowMs: number;
  /** What the answer asked for; null = nothing. */
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

  /** @returns when the host's other boards are due; undefined = go on. After a pause the first failure is enough. */
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
