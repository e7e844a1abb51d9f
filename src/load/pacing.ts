/**
 * When requests are sent. Open loop: at a given rate, independent of the answers. Each request has a time when it is due; one
 * that cannot be sent then (all connections busy, the generator itself late) is sent later, and its latency still counts from
 * when it was due, so that a stall of the server shows in full (no coordinated omission). Closed loop: a fixed number of
 * requests is under way, and each answer lets the next request go.
 */
import type { Clock } from '../base/clock.ts';
import { Latencies } from './latencies.ts';
import { type Kind, WEIGHT_SUM_MAX } from './mix.ts';
import type { Ending, Operation, SendReadiness } from './operation.ts';
import type { Pool } from './pool.ts';

export interface PacingOptions {
  /** Requests a second; undefined = closed loop. */
  readonly rate: number | undefined;
  /** Closed loop: number of requests under way. */
  readonly inFlightMax: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly operations: ReadonlyMap<Kind, Operation>;
  readonly nextKind: () => Kind;
}

/**
 * Timers can be off by this much; for the last part of the time until a request is due, the pacing spins the event loop.
 */
const TIMER_SLACK_MS = 2;
/** Pause of a closed loop after a broken connection, so that a dead server does not get requests without end. */
const BROKEN_PAUSE_MS = 20;
/** Requests skipped in a row before the loop waits for answers: by then each kind of any mix has had its turn. */
const PASSED_OVER_MAX = 2 * WEIGHT_SUM_MAX;

/** What keeps a request that is due from being sent. */
type Cause = 'no connection free' | 'no wait held' | 'no payment signed';

export class Pacing {
  readonly #options: PacingOptions;
  #next: Kind | undefined;
  #index = 0;
  #inFlight = 0;
  #isPumping = false;
  #isScheduled = false;
  #isStopped = false;
  #blockedBy: Cause | undefined;
  #blockedSinceMs = 0;
  #unblockedMs = 0;
  readonly #blockedMs: Record<Cause, number> = {
    'no connection free': 0,
    'no wait held': 0,
    'no payment signed': 0,
  };
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  /** Delay of requests for which a connection was free: the generator's own. */
  readonly lag = new Latencies();
  sentCount = 0;
  /** Requests of a mix that were skipped because their kind had nothing to send at that moment. */
  passedOverCount = 0;
  /** Whether the run ended early because nothing was left to send. */
  isUsedUp = false;

  constructor(options: PacingOptions) {
    this.#options = options;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /**
   * Resolves when nothing more will be sent: at the end, after `stop`, or when nothing is left. A request that is due before the
   * end is sent even if the loop reaches it just after, as long as there is room for it.
   */
  run(): Promise<void> {
    const { startMs, pool } = this.#options;
    this.#unblockedMs = startMs;
    pool.onRoom = () => this.pump();
    this.#armEnd();
    this.pump();
    return this.#ended;
  }

  /** Repeats itself when the timer was early: no other event may ever come to end the run. */
  #armEnd(): void {
    const { endMs, clock } = this.#options;
    const leftMs = Math.max(0, endMs - clock.monotonicMs());
    this.#endTimer = setTimeout(() => {
      this.pump();
      if (!this.#isStopped) this.#armEnd();
    }, leftMs + TIMER_SLACK_MS);
  }

  stop(): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#countBlocked(nowMs);
    this.#isStopped = true;
    clearTimeout(this.#endTimer);
    this.#end();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Time during which a request was due and every connection was busy. */
  get roomBlockedMs(): number {
    return this.#blockedMs['no connection free'];
  }

  /** Time during which a webhook that wakes waits was due, and all waits had been woken and were not held again. */
  get waitsBlockedMs(): number {
    return this.#blockedMs['no wait held'];
  }

  /** Time during which a request was due and no payment was signed. */
  get unsignedMs(): number {
    return this.#blockedMs['no payment signed'];
  }

  /** Calls `report` with each request that was due before `nowMs` and the end, and was not sent. */
  unsent(nowMs: number, report: (kind: Kind, plannedMs: number) => void): void {
    if (this.#options.rate === undefined || this.isUsedUp) return;
    for (;;) {
      const plannedMs = this.#plannedMs(nowMs);
      if (plannedMs >= Math.min(nowMs, this.#options.endMs)) return;
      const kind = this.#next ?? this.#options.nextKind();
      if (this.#options.operations.get(kind)?.readiness() === 'used-up') this.passedOverCount++;
      else report(kind, plannedMs);
      this.#next = undefined;
      this.#index++;
    }
  }

  #plannedMs(nowMs: number): number {
    const { rate, startMs } = this.#options;
    return rate === undefined ? nowMs : startMs + (this.#index * 1000) / rate;
  }

  /** Sends what is due and can be sent. Called whenever that may have changed; cheap when it has not. */
  pump(): void {
    if (this.#isPumping || this.#isStopped) return;
    this.#isPumping = true;
    this.#pumpAll();
    this.#isPumping = false;
  }

  #pumpAll(): void {
    const { clock, rate, inFlightMax, pool, operations, nextKind, endMs } = this.#options;
    let passedOver = 0;
    for (;;) {
      const nowMs = clock.monotonicMs();
      const plannedMs = this.#plannedMs(nowMs);
      if (plannedMs >= endMs) {
        if (nowMs >= endMs) this.stop();
        else this.#schedule(endMs - nowMs);
        return;
      }
      if (plannedMs > nowMs) {
        this.#schedule(plannedMs - nowMs);
        return;
      }
      if (!pool.hasRoom() || (rate === undefined && this.#inFlight >= inFlightMax)) {
        this.#block('no connection free', nowMs);
        return;
      }
      this.#next ??= nextKind();
      const operation = operations.get(this.#next)!; // one for each kind of the mix
      const readiness = operation.readiness();
      if (readiness === 'unsigned') {
        this.#block('no payment signed', nowMs);
        return;
      }
      if (readiness === 'ready') {
        this.#countBlocked(nowMs);
        this.#send(operation, plannedMs, nowMs);
        passedOver = 0;
        continue;
      }
      if (operations.size === 1 || ++passedOver > PASSED_OVER_MAX) {
        if (this.#isAllUsedUp()) {
          this.isUsedUp = true;
          this.stop();
        } else this.#block('no wait held', nowMs);
        return;
      }
      this.#next = undefined;
      this.#index++;
      this.passedOverCount++;
    }
  }

  #block(cause: Cause, nowMs: number): void {
    if (this.#blockedBy !== cause) {
      this.#countBlocked(nowMs);
      this.#blockedBy = cause;
      this.#blockedSinceMs = nowMs;
    }
    if (nowMs >= this.#options.endMs) this.stop();
  }

  #isAllUsedUp(): boolean {
    const states: readonly SendReadiness[] = [...this.#options.operations.values()].map((each) => each.readiness());
    return states.every((state) => state === 'used-up');
  }

  #send(operation: Operation, plannedMs: number, nowMs: number): void {
    // While a request waits for a connection or a held wait, the server causes the delay; only the time after that is ours.
    if (this.#options.rate !== undefined) this.lag.record(nowMs - Math.max(plannedMs, this.#unblockedMs));
    this.#next = undefined;
    this.#index++;
    this.sentCount++;
    this.#inFlight++;
    operation.start(plannedMs, (ending) => this.#onEnd(ending));
  }

  #onEnd(ending: Ending): void {
    if (ending === 'broken' && this.#options.rate === undefined && !this.#isStopped) {
      setTimeout(() => this.#onEnd('answered'), BROKEN_PAUSE_MS);
      return;
    }
    this.#inFlight--;
    this.pump();
  }

  #countBlocked(nowMs: number): void {
    const cause = this.#blockedBy;
    if (cause === undefined) return;
    this.#blockedMs[cause] += nowMs - this.#blockedSinceMs;
    this.#blockedBy = undefined;
    if (cause !== 'no payment signed') this.#unblockedMs = nowMs;
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const wake = (): void => {
      this.#isScheduled = false;
      this.pump();
    };
    if (delayMs > TIMER_SLACK_MS) setTimeout(wake, delayMs - TIMER_SLACK_MS);
    else setImmediate(wake);
  }
}
