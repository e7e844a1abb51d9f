/**
 * One request at a time to a host, with a pause after each: the next one leaves at least `pauseMs` after the last one ended,
 * with its whole answer or a failure. So two requests never reach a host within the pause, however long each is in transit.
 */
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';

interface Lane {
  /** Resolves when the last request in line has been answered. */
  tail: Promise<void>;
  waiting: number;
  /** Monotonic. */
  freeMs: number;
}

/** Whether the promise, which never rejects, resolves before the signal aborts. */
async function settlesFirst(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const aborted = Promise.withResolvers<false>();
  const onAbort = (): void => aborted.resolve(false);
  signal.addEventListener('abort', onAbort, { once: true });
  const isFirst = await Promise.race([promise.then(() => true), aborted.promise]);
  signal.removeEventListener('abort', onAbort);
  return isFirst;
}

export class HostPace {
  /** Between two requests to one host. */
  readonly pauseMs: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #timers: Timers;
  readonly #lanes = new Map<string, Lane>();

  constructor(pauseMs: number, clock: Pick<Clock, 'monotonicMs'>, timers: Timers) {
    this.pauseMs = pauseMs;
    this.#clock = clock;
    this.#timers = timers;
  }

  /**
   * Runs `send` when the host's turn comes, and starts the pause when it settles.
   * @returns undefined when the signal ended the wait
   */
  async inTurn<Result>(host: string, signal: AbortSignal, send: () => Promise<Result>): Promise<Result | undefined> {
    const lane = this.#laneOf(host);
    const before = lane.tail;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    lane.tail = promise;
    lane.waiting++;
    const leave = (): void => {
      lane.waiting--;
      end();
      this.#forgetIdle();
    };
    if (!(await settlesFirst(before, signal))) {
      // The request before still holds the lane.
      void before.then(leave);
      return undefined;
    }
    try {
      while (!signal.aborted && this.#clock.monotonicMs() < lane.freeMs)
        await this.pause(lane.freeMs - this.#clock.monotonicMs(), signal);
      if (signal.aborted) return undefined;
      return await send();
    } finally {
      lane.freeMs = Math.max(lane.freeMs, this.#clock.monotonicMs() + this.pauseMs);
      leave();
    }
  }

  /** No request leaves for the host before `pauseMs` have passed. */
  hold(host: string, pauseMs: number): void {
    const lane = this.#laneOf(host);
    lane.freeMs = Math.max(lane.freeMs, this.#clock.monotonicMs() + pauseMs);
  }

  /** Resolves after the time, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#timers.after(Math.ceil(ms), end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  #laneOf(host: string): Lane {
    let lane = this.#lanes.get(host);
    if (lane === undefined) {
      lane = { tail: Promise.resolve(), waiting: 0, freeMs: Number.NEGATIVE_INFINITY };
      this.#lanes.set(host, lane);
    }
    return lane;
  }

  /** Forgets hosts whose pause is over: they are like hosts that were never asked. */
  #forgetIdle(): void {
    if (this.#lanes.size < LANES_KEPT) return;
    const nowMs = this.#clock.monotonicMs();
    for (const [host, lane] of this.#lanes) if (lane.waiting === 0 && lane.freeMs <= nowMs) this.#lanes.delete(host);
  }
}

/** Above this number of hosts, idle ones are forgotten: a round of company sites has thousands. */
const LANES_KEPT = 1024;
