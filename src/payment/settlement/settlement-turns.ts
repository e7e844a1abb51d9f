/**
 * Bounds the concurrent calls to the facilitator, and shares them fairly by client network (reliability 83, 99). A purchase
 * holds a turn from its verification to the end of its settlement, so a verified payment never waits for its settlement, and a
 * flood of signed but unfunded payments cannot take the turns of others. The reconciler's repeats need no turn.
 *
 *   - A network may hold as many turns as are free (client-share.ts): one holds half of them at most, and another always finds
 *     some. Networks without a settled payment hold {@link NEWCOMER_COUNT_MAX} together, so known payers find turns even when
 *     a flood comes from many networks.
 *   - A payment that the settlement refuses halves what its network may hold, down to {@link REFUSED_COUNT_MIN}, until one
 *     settles or {@link REFUSALS_FORGOTTEN_MS} have passed without a refusal.
 *   - Refused payments are charged to their lane, newcomers or known payers, like forgeries in the recovery queue: each lane
 *     may waste {@link REFUSALS_PER_SECOND} in the long run, so that a flood does not make the facilitator refuse us. A turn is
 *     charged when it begins and refunded when it ends without a refusal, so payments that settle are never slowed down.
 *   - A payment without a turn waits in the fair queue of its lane, for {@link WAIT_MS_MAX} at most. Lanes are served
 *     alternately.
 *
 * Invariant: each `enter` gets one answer, each turn ends once, and a payment that waits can be served when a turn ends or a
 * lane's pause is over.
 */
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import { lruMap } from '../../base/lru-map.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Timers } from '../../base/timers.ts';
import { ClientShare } from '../client-share.ts';
import { WasteBudget } from '../waste-budget.ts';

/** Purchases with the facilitator at a time: at one second each, 256 sales a second. */
export const TURN_COUNT_MAX = 256;
/** Three quarters, so that known payers always find some. */
export const NEWCOMER_COUNT_MAX = 192;
/** Purchases that wait in one lane: as many as are served within the wait when every one of them is refused. */
export const WAITING_COUNT_MAX = 256;
/** Half of the least runway of an authorization (6 s), which is checked again after the wait. */
export const WAIT_MS_MAX = 3000;
/** Turns that a network may always hold, despite refusals: one for its next honest payment beside a slow one. */
export const REFUSED_COUNT_MIN = 2;
export const REFUSALS_FORGOTTEN_MS = MINUTE_MS;
/** Networks whose payments were refused lately, about 100 bytes each. */
const REFUSED_NETWORK_COUNT_MAX = 4096;
/** Refused payments of one lane in the long run: the rate of a facilitator with ten concurrent calls of 100 ms each. */
export const REFUSALS_PER_SECOND = 100;
if ((WAITING_COUNT_MAX / REFUSALS_PER_SECOND) * 1000 > WAIT_MS_MAX) throw new Error('a full lane outlasts its wait');

/** The right of one purchase to ask the settlement. */
export interface Turn {
  /** The settlement has refused the payment. Called before the end, at most once. */
  noteRefused(): void;
  /** The payment has settled. */
  notePaid(): void;
  /** Call it once. */
  end(): void;
}

/** Why a purchase gets no turn: its client or all clients have too many, it waited too long, or its client disconnected. */
export type TurnRejection = 'client-crowded' | 'crowded' | 'waited-too-long' | 'client-gone';

interface Waiting {
  readonly network: string;
  isDisconnected(): boolean;
  answer(turn: Turn | TurnRejection): void;
}

interface Lane {
  readonly queue: FairQueue<Waiting>;
  readonly refusals: WasteBudget;
}

interface Refusals {
  readonly count: number;
  readonly lastMs: number;
}

export interface TurnsPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** True for the network of a client whose payment has settled. */
  isKnownPayer(network: string): boolean;
}

/** For metrics. */
export interface TurnCounts {
  readonly held: number;
  readonly waiting: number;
  readonly rejected: number;
}

/** @param turnCountMax the most turns that the lane may hold, all of which may be charged at once */
const openLane = (turnCountMax: number): Lane => ({
  queue: new FairQueue(WAITING_COUNT_MAX),
  refusals: new WasteBudget(turnCountMax, REFUSALS_PER_SECOND / 1000),
});

export class SettlementTurns {
  readonly #ports: TurnsPorts;
  readonly #all = new ClientShare(TURN_COUNT_MAX);
  readonly #newcomers = new ClientShare(NEWCOMER_COUNT_MAX);
  readonly #knownLane = openLane(TURN_COUNT_MAX);
  readonly #newcomerLane = openLane(NEWCOMER_COUNT_MAX);
  readonly #refused = lruMap<string, Refusals>(REFUSED_NETWORK_COUNT_MAX);
  #isTurnOfKnown = true;
  #isPaused = false;
  #rejectedCount = 0;

  constructor(ports: TurnsPorts) {
    this.#ports = ports;
  }

  counts(): TurnCounts {
    return {
      held: this.#all.count,
      waiting: this.#knownLane.queue.count + this.#newcomerLane.queue.count,
      rejected: this.#rejectedCount,
    };
  }

  /** Rejects this network, and counts that, when {@link enter} would do so at once; undefined when it would not. */
  rejectAtOnce(network: string): 'client-crowded' | 'crowded' | undefined {
    const rejection = this.#rejectionOf(network);
    if (rejection !== undefined) this.#rejectedCount++;
    return rejection;
  }

  /** Waits for a turn. Synchronous when there is one now, or no room to wait. */
  enter(network: string, isDisconnected: () => boolean): MaybePromise<Turn | TurnRejection> {
    if (this.#isServed(network)) return this.#begin(network);
    const rejection = this.rejectAtOnce(network);
    if (rejection !== undefined) return rejection;
    const { queue } = this.#laneOf(network);
    return new Promise((resolve) => {
      const cancel = this.#ports.timers.after(WAIT_MS_MAX, () => {
        queue.remove(waiting);
        waiting.answer('waited-too-long');
      });
      const answer = (turn: Turn | TurnRejection): void => {
        cancel();
        if (typeof turn === 'string') this.#rejectedCount++;
        resolve(turn);
      };
      const waiting: Waiting = { network, isDisconnected, answer };
      queue.add(waiting);
      this.#serve();
    });
  }

  #laneOf(network: string): Lane {
    return this.#ports.isKnownPayer(network) ? this.#knownLane : this.#newcomerLane;
  }

  #rejectionOf(network: string): 'client-crowded' | 'crowded' | undefined {
    if (this.#isServed(network)) return undefined;
    const { queue } = this.#laneOf(network);
    if (queue.freeSlotsFor(network) > 0) return undefined;
    return queue.lengthOf(network) > 0 ? 'client-crowded' : 'crowded';
  }

  #refusalsOf(network: string): number {
    const refusals = this.#refused.get(network);
    if (refusals === undefined) return 0;
    return this.#ports.clock.monotonicMs() - refusals.lastMs > REFUSALS_FORGOTTEN_MS ? 0 : refusals.count;
  }

  /** Whether this network may begin a turn now. */
  #isServed(network: string): boolean {
    const { refusals } = this.#laneOf(network);
    return refusals.pauseMs(this.#ports.clock.monotonicMs()) === 0 && this.#hasShare(network);
  }

  #hasShare(network: string): boolean {
    if (!this.#all.canTake(network)) return false;
    if (!this.#ports.isKnownPayer(network) && !this.#newcomers.canTake(network)) return false;
    const refusalCount = this.#refusalsOf(network);
    if (refusalCount === 0) return true;
    const share = Math.max(REFUSED_COUNT_MIN, Math.floor(TURN_COUNT_MAX / 2 ** (refusalCount + 1)));
    return this.#all.heldBy(network) < share;
  }

  #begin(network: string): Turn {
    const releaseAll = this.#all.tryTake(network);
    const releaseNewcomer = this.#ports.isKnownPayer(network) ? undefined : this.#newcomers.tryTake(network);
    const { clock } = this.#ports;
    const { refusals } = this.#laneOf(network);
    refusals.charge(1, clock.monotonicMs());
    let isRefused = false;
    return {
      noteRefused: () => {
        isRefused = true;
        this.#refused.set(network, { count: this.#refusalsOf(network) + 1, lastMs: clock.monotonicMs() });
      },
      notePaid: () => {
        this.#refused.delete(network);
      },
      end: () => {
        releaseNewcomer?.();
        releaseAll?.();
        if (!isRefused) refusals.charge(-1, clock.monotonicMs());
        this.#serve();
      },
    };
  }

  /** Gives free turns to the payments that wait. */
  #serve(): void {
    for (let waiting = this.#next(); waiting !== undefined; waiting = this.#next()) {
      waiting.answer(waiting.isDisconnected() ? 'client-gone' : this.#begin(waiting.network));
    }
  }

  /** Only a lane that was served passes its turn on, since each turn that ends causes a second call, which finds no room. */
  #next(): Waiting | undefined {
    const nowMs = this.#ports.clock.monotonicMs();
    const lanes = this.#isTurnOfKnown ? [this.#knownLane, this.#newcomerLane] : [this.#newcomerLane, this.#knownLane];
    for (const lane of lanes) {
      const waiting = this.#nextOf(lane, nowMs);
      if (waiting === undefined) continue;
      this.#isTurnOfKnown = lane === this.#newcomerLane;
      return waiting;
    }
    return undefined;
  }

  #nextOf({ queue, refusals }: Lane, nowMs: number): Waiting | undefined {
    if (queue.count === 0) return undefined;
    const pauseMs = refusals.pauseMs(nowMs);
    if (pauseMs === 0) return queue.next(({ network }) => this.#hasShare(network));
    this.#pause(pauseMs);
    return undefined;
  }

  /** Serves again when the pause of a lane is over. */
  #pause(pauseMs: number): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#ports.timers.after(Math.ceil(pauseMs), () => {
      this.#isPaused = false;
      this.#serve();
    });
  }
}
