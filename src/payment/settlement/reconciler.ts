/**
 * The reconciler finds out how unsettled cases ended (decisions §4, x402-v2 §5.5). It sends the same order to the same
 * settlement again, with growing pauses, until the outcome is final or the authorization's window is over. Repeating is safe
 * because an authorization moves money at most once, but a refusal needs care: after `validBefore` it may merely say
 * "expired" about a transfer that did happen. From then on only a success counts; without one the authorization ends as dead.
 *
 * A process that stalled while another took over its case stops asking, and records no outcome but a settlement. It may have
 * stalled just before sending the order, which nothing can recall, so no refusal frees a case that was taken over: such a case
 * ends as settled or dead.
 *
 * After a refusal that frees nothing, the case is asked about once more, when it could also end as dead. Earlier, a repeat could
 * move the money after all, say because the payer's balance is back, and charge for a request that has no client any more; on a
 * chain whose block times lag even after `validBefore`. The store remembers the refusal for a process that takes the case over.
 *
 * The wall clock may be wrong, or be set. So it must agree with what it showed when the watch began, plus the time watched
 * since. While the store has a fault, as it has where processes share a database and this one's clock is wrong, no case is
 * asked about until the longest window is over by the monotonic clock. A process that starts on a folder has no other clock to
 * compare its own with, and a machine may start with one that is ahead; so no case that it finds there ends as dead before that.
 *
 * Invariant: the reservation of an unsettled case stays unknown until this file records the outcome. Bounds: as many cases as
 * the store has reservations, one timer each; at most {@link REPEATS_IN_FLIGHT_MAX} calls are in flight.
 */
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { messageOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import { WINDOW_SECONDS_MAX } from '../protocol/network.ts';
import type { PaymentOrder } from '../protocol/order.ts';
import { isSilentOnEarlier } from '../protocol/reasons.ts';
import type { Reservation, Reservations, UnsettledCase } from '../reservations.ts';
import type { Settlement, SettleOutcome } from './settlement.ts';

const FIRST_PAUSE_MS = 1000;
const PAUSE_MS_MAX = 30_000;
const REPEATS_IN_FLIGHT_MAX = 8;
/**
 * A case stays open this long after `validBefore`: block times may lag behind our clock, and a transfer sent at the last
 * moment must still be found. The reconciler also watches each case for at least as long by the monotonic clock: after a
 * restart the settlement may be unreachable at first.
 */
const FINALITY_MS = MINUTE_MS;
/** Of an authorization whose window is as long as is accepted: a case watched for so long is over without any wall clock. */
export const LONGEST_WAIT_MS = WINDOW_SECONDS_MAX * 1000 + FINALITY_MS;

/** What the reconciler reports about a case, for the log and the counters. */
export type CaseReport =
  | (CaseOutcome & { readonly order: PaymentOrder })
  /** The store could not record the outcome or a new hash. The reconciler tries again. */
  | { readonly kind: 'unrecorded'; readonly order: PaymentOrder; readonly detail: string };

export interface ReconcilerPorts {
  readonly settlement: Settlement;
  readonly reservations: Reservations;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onCaseReport: (report: CaseReport) => void;
  /** Called with the first bug that kept the order of a case from being sent; its repeats meet the same. */
  readonly onBug: (bug: Error) => void;
}

/** The certain outcome of a case. */
export type CaseOutcome =
  | { readonly kind: 'settled'; readonly transaction: string }
  | { readonly kind: 'released'; readonly detail: string }
  | { readonly kind: 'dead'; readonly detail: string };

interface WatchedCase extends UnsettledCase {
  /** Monotonic time at which this process began to watch the case. */
  readonly sinceMs: number;
  /** Found in a folder at the start. */
  readonly isFound: boolean;
  /** Milliseconds from `validBefore` to that time, as the wall clock stood then. */
  readonly sincePastMs: number;
  /** The outcome, once it is known but not yet recorded; from then on only the recording is repeated. */
  outcome: CaseOutcome | undefined;
  /** The last hash that this process knows of; '' = none. The store lacks it if recording failed. */
  transaction: string;
  /** The last answer that said that the authorization was used; '' = none did. The report of a dead case names it. */
  usedDetail: string;
  hasBug: boolean;
  pauseMs: number;
  cancel: () => void;
}

/** After the window a settlement may say no more than "expired". */
const deadDetailOf = ({ usedDetail }: WatchedCase, last: string): string =>
  usedDetail === '' || usedDetail === last ? last : `${usedDetail}, then ${last}`;

export class Reconciler {
  readonly #ports: ReconcilerPorts;
  /** Every case without a recorded outcome: it waits for its timer, for its turn, or for an answer. */
  readonly #open = new Set<WatchedCase>();
  /** Due cases that wait until one of the calls in flight ends, oldest first. */
  readonly #due: WatchedCase[] = [];
  #repeatCount = 0;
  #isDraining = false;
  #isStopped = false;

  constructor(ports: ReconcilerPorts) {
    this.#ports = ports;
  }

  /** Number of cases without a recorded outcome. */
  get openCount(): number {
    return this.#open.size;
  }

  /**
   * Takes over a reservation that is settling or unknown.
   * @param outcome given when it is certain and only its recording failed
   * @param transaction of an outcome that is not on record; '' = none is known
   */
  watch(reservation: Reservation, order: PaymentOrder, outcome?: CaseOutcome, transaction = ''): void {
    this.#add({ reservation, order, isFound: false, outcome, transaction });
  }

  /** Takes over a case whose process has ended. */
  takeOver({ reservation, order }: UnsettledCase): void {
    this.#add({ reservation, order, isFound: !reservation.isTakenOver, outcome: undefined, transaction: '' });
  }

  #add(one: Pick<WatchedCase, 'reservation' | 'order' | 'isFound' | 'outcome' | 'transaction'>): void {
    const { clock } = this.#ports;
    const added: WatchedCase = {
      ...one,
      sinceMs: clock.monotonicMs(),
      sincePastMs: clock.nowMs() - one.order.authorization.validBeforeSeconds * 1000,
      usedDetail: '',
      hasBug: false,
      pauseMs: FIRST_PAUSE_MS,
      cancel: () => {},
    };
    this.#open.add(added);
    this.#pause(added);
  }

  /** A shutdown begins, which cuts calls off: from now on a call without an answer ends no case as dead. The next start asks again. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Starts no more repeats. The outcomes of calls in flight are still recorded. */
  stop(): void {
    this.#isStopped = true;
    for (const one of this.#open) one.cancel();
  }

  #pause(one: WatchedCase): void {
    if (this.#isStopped) return;
    one.cancel = this.#ports.timers.after(one.pauseMs, () => {
      this.#due.push(one);
      this.#repeatNext();
    });
    one.pauseMs = Math.min(one.pauseMs * 2, PAUSE_MS_MAX);
  }

  #repeatNext(): void {
    while (!this.#isStopped && this.#repeatCount < REPEATS_IN_FLIGHT_MAX) {
      const next = this.#due.shift();
      if (next === undefined) return;
      this.#repeatCount++;
      void this.#repeat(next).finally(() => {
        this.#repeatCount--;
        this.#repeatNext();
      });
    }
  }

  async #repeat(one: WatchedCase): Promise<void> {
    try {
      // Any process that knows that money has moved records it.
      if (one.outcome?.kind !== 'settled' && !(await this.#ports.reservations.isHeld(one.reservation))) {
        this.#open.delete(one);
        return;
      }
      one.outcome ??= await this.#ask(one);
      if (one.outcome !== undefined) {
        await this.#record(one, one.outcome);
        this.#open.delete(one);
        this.#ports.onCaseReport({ ...one.outcome, order: one.order });
        return;
      }
    } catch (failure) {
      this.#ports.onCaseReport({ kind: 'unrecorded', order: one.order, detail: messageOf(failure) });
    }
    this.#pause(one);
  }

  /** Repeats the settlement once; undefined when the case stays open. */
  async #ask(one: WatchedCase): Promise<CaseOutcome | undefined> {
    const { settlement, reservations } = this.#ports;
    const untilOverMs = this.#untilOverMs(one);
    const isOver = untilOverMs <= 0;
    if (!isOver && one.reservation.isRefused) {
      one.pauseMs = Math.min(untilOverMs, PAUSE_MS_MAX);
      return undefined;
    }
    if (!isOver && reservations.fault() !== undefined) return undefined;
    // Read before the call: a refusal that was sent inside the window counts, even when it arrives after it.
    const isInside = !isOver && Math.max(...this.#pastMs(one)) < 0;
    const outcome = await settlement.settle(one.order);
    if (outcome.kind === 'settled') return { kind: 'settled', transaction: outcome.transaction };
    if (outcome.kind === 'refused' && isInside) {
      const isFree = !one.reservation.isTakenOver && (await this.#provesNothingMoved(one, outcome));
      if (isFree) return { kind: 'released', detail: outcome.detail };
    }
    if (outcome.kind === 'unavailable' && outcome.bug !== undefined && !one.hasBug) {
      one.hasBug = true;
      this.#ports.onBug(outcome.bug);
    }
    if (outcome.kind === 'unknown') {
      if (outcome.isUsed) one.usedDetail = outcome.detail;
      if (outcome.transaction !== '') one.transaction = outcome.transaction;
      await reservations.recordUnknown(one.reservation, one.transaction);
    }
    if (isOver && this.#isDraining && outcome.kind !== 'refused') return undefined;
    if (isOver) return { kind: 'dead', detail: deadDetailOf(one, outcome.detail) };
    if (outcome.kind === 'refused') {
      one.pauseMs = Math.max(this.#untilOverMs(one), FIRST_PAUSE_MS);
      await reservations.recordUnknown(one.reservation, one.transaction, true);
    }
    return undefined;
  }

  /** Milliseconds until the case may end as dead; none when it may now. */
  #untilOverMs(one: WatchedCase): number {
    const watchedMs = this.#ports.clock.monotonicMs() - one.sinceMs;
    const untilLongestMs = LONGEST_WAIT_MS - watchedMs;
    if (one.isFound || this.#ports.reservations.fault() !== undefined) return untilLongestMs;
    return Math.min(FINALITY_MS - Math.min(watchedMs, ...this.#pastMs(one)), untilLongestMs);
  }

  /** Milliseconds since `validBefore`: by the wall clock now, and by what it showed when the watch began. */
  #pastMs({ order, sinceMs, sincePastMs }: WatchedCase): [now: number, since: number] {
    const { clock } = this.#ports;
    const pastMs = clock.nowMs() - order.authorization.validBeforeSeconds * 1000;
    return [pastMs, sincePastMs + clock.monotonicMs() - sinceMs];
  }

  /**
   * True when the refusal of a repeat proves that no earlier attempt moved money, and none that was sent will. Once a hash is known,
   * only the chain's revert of that transaction proves it. Before that, a failed transaction proves nothing, because it may be
   * the relayer's second one; nor does an insufficient balance or a closed window, because a transfer that did happen also
   * leaves those behind.
   */
  async #provesNothingMoved(one: WatchedCase, refused: SettleOutcome & { readonly kind: 'refused' }): Promise<boolean> {
    const status = await this.#ports.reservations.statusOf(one.order.key);
    const known = one.transaction || (status?.kind === 'unknown' ? status.transaction : '');
    return known === '' ? !isSilentOnEarlier(refused.reason) : refused.transaction === known;
  }

  async #record(one: WatchedCase, outcome: CaseOutcome): Promise<void> {
    const { reservations } = this.#ports;
    switch (outcome.kind) {
      case 'settled':
        return reservations.recordSettled(one.reservation, outcome.transaction);
      case 'released':
        return reservations.recordReleased(one.reservation);
      case 'dead':
        // Recording the case as unknown may have failed until now.
        await reservations.recordUnknown(one.reservation, one.transaction);
        return reservations.recordDead(one.reservation);
      default:
        return outcome satisfies never;
    }
  }
}
