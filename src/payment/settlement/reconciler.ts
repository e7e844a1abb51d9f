/**
 * Learns how unknown settlements ended: the same order to the same settlement, with growing pauses, until the outcome is
 * final or the authorization's window is over (decisions §4, x402-v2 §5.5). Repeating is safe, an authorization moves money
 * at most once; only the reading of the answer needs care: after `validBefore` a refusal may merely say "expired" over a
 * transfer that did happen, so from then on only a success counts, and without one the authorization ends as dead.
 *
 * Invariant: a watched reservation is unknown until this file records its end. Bounds: as many as the store holds, at most
 * {@link REPEATS_AT_ONCE_MAX} calls at a time, one timer each.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import type { PaymentOrder } from '../protocol/order.ts';
import { isSilentOnEarlier } from '../protocol/reasons.ts';
import type { Reservation, Reservations } from '../reservations.ts';
import type { Settlement, SettleOutcome } from './settlement.ts';

const FIRST_PAUSE_MS = 1000;
const PAUSE_MS_MAX = 30_000;
const REPEATS_AT_ONCE_MAX = 8;
/**
 * Blocks may carry a time behind ours; a transfer sent at the last moment is still found this long after. Every case is
 * asked after for at least as long by the monotonic clock: after a restart the settlement may be away at first, and a wall
 * clock that was set forward closes no window.
 */
const FINALITY_SECONDS = 60;

/** News of a case, for the log and the counters. */
export type Resolution =
  | (End & { readonly order: PaymentOrder })
  /** It could not be recorded where the case stands; that is tried again. */
  | { readonly kind: 'unrecorded'; readonly order: PaymentOrder; readonly detail: string };

export interface ReconcilerParts {
  readonly settlement: Settlement;
  readonly reservations: Reservations;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onResolution: (resolution: Resolution) => void;
}

/** What is certain about a case. */
export type End =
  | { readonly kind: 'settled'; readonly transaction: string }
  | { readonly kind: 'released'; readonly detail: string }
  | { readonly kind: 'dead'; readonly detail: string };

interface Case {
  readonly reservation: Reservation;
  readonly order: PaymentOrder;
  /** Monotonic; since then it is asked after by this process. */
  readonly sinceMs: number;
  /** Known but not yet recorded: then only the recording is tried again. */
  end: End | undefined;
  pauseMs: number;
  cancel: () => void;
}

export class Reconciler {
  readonly #parts: ReconcilerParts;
  /** Every case that is not final: waiting for its timer, for its turn, or for an answer. */
  readonly #open = new Set<Case>();
  /** Due cases that wait for one of the calls in flight to end. */
  readonly #waiting: Case[] = [];
  #repeatCount = 0;
  #stopped = false;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** Cases without a final outcome. */
  get openCount(): number {
    return this.#open.size;
  }

  /**
   * Takes over a reservation that is settling or unknown.
   * @param end when the outcome is certain and only its record failed
   */
  watch(reservation: Reservation, order: PaymentOrder, end?: End): void {
    const sinceMs = this.#parts.clock.monotonicMs();
    const added: Case = { reservation, order, sinceMs, end, pauseMs: FIRST_PAUSE_MS, cancel: () => {} };
    this.#open.add(added);
    this.#pause(added);
  }

  /** No more repeats; calls in flight are still recorded when they end. */
  stop(): void {
    this.#stopped = true;
    for (const one of this.#open) one.cancel();
    this.#waiting.length = 0;
  }

  #pause(one: Case): void {
    if (this.#stopped) return;
    one.cancel = this.#parts.timers.after(one.pauseMs, () => {
      this.#waiting.push(one);
      this.#repeatNext();
    });
    one.pauseMs = Math.min(one.pauseMs * 2, PAUSE_MS_MAX);
  }

  #repeatNext(): void {
    while (!this.#stopped && this.#repeatCount < REPEATS_AT_ONCE_MAX) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#repeatCount++;
      void this.#repeat(next).finally(() => {
        this.#repeatCount--;
        this.#repeatNext();
      });
    }
  }

  async #repeat(one: Case): Promise<void> {
    try {
      one.end ??= await this.#ask(one);
      if (one.end !== undefined) {
        await this.#record(one, one.end);
        this.#open.delete(one);
        this.#parts.onResolution({ ...one.end, order: one.order });
        return;
      }
    } catch (failure) {
      const detail = messageOf(failure);
      this.#parts.onResolution({ kind: 'unrecorded', order: one.order, detail });
    }
    this.#pause(one);
  }

  async #ask(one: Case): Promise<End | undefined> {
    const { settlement, reservations, clock } = this.#parts;
    // Asked before the call: an answer that was on its way when the window closed is still an answer.
    const secondsPast = clock.nowMs() / 1000 - one.order.authorization.validBeforeSeconds;
    const secondsWatched = (clock.monotonicMs() - one.sinceMs) / 1000;
    const outcome = await settlement.settle(one.order);
    if (outcome.kind === 'settled') return { kind: 'settled', transaction: outcome.transaction };
    if (outcome.kind === 'refused' && secondsPast < 0 && (await this.#isOfThisTransfer(one, outcome))) {
      return { kind: 'released', detail: outcome.detail };
    }
    if (outcome.kind === 'unknown') await reservations.recordUnknown(one.reservation, outcome.transaction);
    const isOver = Math.min(secondsPast, secondsWatched) > FINALITY_SECONDS;
    return isOver ? { kind: 'dead', detail: outcome.detail } : undefined;
  }

  /**
   * Whether a refusal of the repeat says that the first attempt moved nothing. Once a hash was seen, only the chain's own
   * revert of it does; before that, not a failure of the transaction, which may be the relayer's trouble with a second one,
   * nor a balance or a window, which a transfer that did happen leaves behind just so.
   */
  async #isOfThisTransfer(one: Case, refused: SettleOutcome & { readonly kind: 'refused' }): Promise<boolean> {
    const status = await this.#parts.reservations.statusOf(one.order.key);
    const known = status?.kind === 'unknown' ? status.transaction : '';
    return known === '' ? !isSilentOnEarlier(refused.reason) : refused.transaction === known;
  }

  async #record(one: Case, end: End): Promise<void> {
    const { reservations } = this.#parts;
    switch (end.kind) {
      case 'settled':
        return reservations.recordSettled(one.reservation, end.transaction);
      case 'released':
        return reservations.recordReleased(one.reservation);
      case 'dead':
        // The first word of it may never have been recorded.
        await reservations.recordUnknown(one.reservation, '');
        return reservations.recordDead(one.reservation);
      default:
        return end satisfies never;
    }
  }
}
