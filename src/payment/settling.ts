/**
 * The settlement of a purchase, the second half of the checkout (checkout.ts): records the intent, moves the money and records the
 * outcome, each before the next. An outcome that is open, or that could not be recorded, goes to the reconciler.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { OutageError, RecordInDoubtError } from '../base/outage.ts';
import type { Random } from '../base/random.ts';
import type { SaleFacts } from './books.ts';
import { runwayFault } from './protocol/authorization.ts';
import { identifierDigest, type PaymentIdentifier } from './protocol/identifier.ts';
import type { PaymentOrder } from './protocol/order.ts';
import { reasonOf } from './protocol/reasons.ts';
import type { Purchase, Settled } from './purchase.ts';
import { ANSWER_BYTES_CLAIMED, type KeptAnswer, type Reservation, type Reservations } from './reservations.ts';
import { sealAnswer } from './sealed-answer.ts';
import type { CaseOutcome, Reconciler } from './settlement/reconciler.ts';
import { type Settlement, type SettleOutcome, unavailable } from './settlement/settlement.ts';
import type { PayingClient } from './settlement/verification.ts';
import type { RecoveryQueue } from './signature/recovery-queue.ts';

export interface SettlingParts {
  readonly settlement: Settlement;
  readonly reservations: Reservations;
  readonly reconciler: Reconciler;
  readonly recoveries: RecoveryQueue;
  readonly clock: Clock;
  readonly random: Random;
}

/** The certain outcome of a case; undefined while money may have moved. */
function endOf(outcome: SettleOutcome): CaseOutcome | undefined {
  switch (outcome.kind) {
    case 'settled':
      return outcome;
    case 'refused':
    case 'unavailable':
      return { kind: 'released', detail: outcome.detail };
    case 'unknown':
      return undefined;
    default:
      return outcome satisfies never;
  }
}

export class Settling {
  readonly #parts: SettlingParts;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
  }

  /**
   * Moves the money. Rejects only for a bug.
   * @param sale what the books will record about the request
   * @param content the answer for a client that asks again under a name; stored sealed for ten minutes
   */
  async settle(purchase: Purchase, sale: SaleFacts, content: () => string): Promise<Settled> {
    try {
      return await this.#settleInTurn(purchase, sale, content);
    } finally {
      purchase.turn?.end();
    }
  }

  /** Replaces the draft by the finished answer. Where that is too long the draft stays, and its route creates it again. */
  async keep(id: PaymentIdentifier, sold: Pick<KeptAnswer, 'serial'>, content: string): Promise<void> {
    const { reservations, random } = this.#parts;
    const sealed = sealAnswer(id, content, random);
    const kept = { serial: sold.serial, digest: identifierDigest(id) };
    if (sealed.length <= ANSWER_BYTES_CLAIMED) await reservations.replaceKept(kept, sealed);
  }

  async #settleInTurn(purchase: Purchase, sale: SaleFacts, content: () => string): Promise<Settled> {
    const { reservations, reconciler, random } = this.#parts;
    const { order, reservation, client, turn, names } = purchase;
    const { payer } = order;
    const ended = await this.#endedBefore(purchase);
    if (ended !== undefined) return ended;
    try {
      const sealed = names.map(({ id }) => sealAnswer(id, content(), random));
      await reservations.recordIntent(reservation, order, sale, sealed);
    } catch (failure) {
      // An intent that may be on record is settled after the next start, so the client must not sign another payment.
      if (failure instanceof RecordInDoubtError) {
        return { kind: 'pending', payer, transaction: '', detail: messageOf(failure) };
      }
      await reservations.release(reservation);
      if (!(failure instanceof OutageError)) throw failure;
      return unavailable(`the intent could not be recorded: ${failure.message}`);
    }
    const outcome = await this.#moveMoney(order);
    if (outcome.kind === 'settled') turn?.notePaid();
    if (outcome.kind === 'refused') turn?.noteRefused();
    let recorded: Settled;
    try {
      recorded = await this.#record(order, reservation, client, outcome);
    } catch (failure) {
      // The outcome is known but not on record, so no answer may leave; the reconciler records it in the background.
      const transaction = outcome.kind === 'settled' || outcome.kind === 'unknown' ? outcome.transaction : '';
      reconciler.watch(reservation, order, endOf(outcome), transaction);
      const detail = `the outcome could not be recorded: ${messageOf(failure)}`;
      recorded = { kind: 'pending', payer, transaction, detail };
    }
    // The authorization is free again, or will be once the reconciler has recorded that.
    if (outcome.kind === 'unavailable' && outcome.bug !== undefined) throw outcome.bug;
    return recorded;
  }

  /** How a purchase ends that must not be settled; undefined for others. Its authorization is then free, also on rejection. */
  async #endedBefore({ order, reservation, client }: Purchase): Promise<Settled | undefined> {
    const { clock, reservations } = this.#parts;
    let ended: Settled | undefined;
    let isGoingOn = false;
    try {
      const fault = runwayFault(order.authorization.validBeforeSeconds, clock.nowMs());
      if (fault !== undefined) ended = { kind: 'lapsed', fault };
      if (client.isDisconnected()) ended = { kind: 'abandoned' };
      isGoingOn = ended === undefined;
    } finally {
      if (!isGoingOn) await reservations.release(reservation);
    }
    return ended;
  }

  /** Settles the order. A port that throws breaks its promise after money may have moved, so the outcome is unknown. */
  async #moveMoney(order: PaymentOrder): Promise<SettleOutcome> {
    try {
      return await this.#parts.settlement.settle(order);
    } catch (failure) {
      return { kind: 'unknown', transaction: '', detail: `settlement threw: ${messageOf(failure)}` };
    }
  }

  /** Rejects when the store cannot record the outcome. */
  async #record(
    order: PaymentOrder,
    reservation: Reservation,
    client: PayingClient,
    outcome: SettleOutcome,
  ): Promise<Settled> {
    const { reservations, reconciler, recoveries } = this.#parts;
    const { payer } = order;
    switch (outcome.kind) {
      case 'settled':
        await reservations.recordSettled(reservation, outcome.transaction);
        recoveries.markPaid(client.clientNetwork());
        return { kind: 'settled', payer, transaction: outcome.transaction };
      case 'refused': {
        await reservations.recordReleased(reservation);
        const { transaction, detail } = outcome;
        return {
          kind: 'refused',
          payer,
          reason: reasonOf(outcome.reason, 'invalid_transaction_state'),
          transaction,
          detail,
        };
      }
      case 'unavailable':
        await reservations.recordReleased(reservation);
        return outcome;
      case 'unknown':
        await reservations.recordUnknown(reservation, outcome.transaction);
        reconciler.watch(reservation, order);
        return { kind: 'pending', payer, transaction: outcome.transaction, detail: outcome.detail };
      default:
        return outcome satisfies never;
    }
  }
}
