/**
 * One of the two waiting lines of the recovery queue: a fair queue, and a budget for the time that forgeries waste. A forgery
 * is charged the time of its recovery, in milliseconds; the lane pauses while its budget is overdrawn.
 */
import { FairQueue } from '../../base/fair-queue.ts';
import { WasteBudget } from '../waste-budget.ts';

/** Entries that may wait in one lane: enough for a burst of 500 honest payments from one address. */
export const WAITING_COUNT_MAX = 1024;
/** Share of one processor that the clients of a lane may waste on forgeries in the long run. */
export const FORGERY_SHARE = 0.25;
/** Milliseconds of recovery that the clients of a lane may waste on forgeries at once, after a quiet while. */
export const FORGERY_BURST_MS = 50;

export class RecoveryLane<Entry extends { readonly network: string }> extends FairQueue<Entry> {
  readonly #forgeries = new WasteBudget(FORGERY_BURST_MS, FORGERY_SHARE);

  constructor() {
    super(WAITING_COUNT_MAX);
  }

  /** Milliseconds until the lane may serve its next entry; 0 = now. */
  pauseMs(nowMs: number): number {
    return this.#forgeries.pauseMs(nowMs);
  }

  /** Charges the lane for a recovery that exposed a forgery. */
  charge(spentMs: number, nowMs: number): void {
    this.#forgeries.charge(spentMs, nowMs);
  }
}
