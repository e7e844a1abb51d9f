/**
 * Asks the settlement whether a payment would settle. Calls that unpaid requests cause there are bounded: by turns, shared by
 * client network, and more tightly for signatures of contract wallets, which only the chain can check. A verified payment
 * keeps its turn; otherwise the turn has ended when the outcome is known.
 */
import type { Clock } from '../../base/clock.ts';
import { ClientShare } from '../client-share.ts';
import { runwayFault } from '../protocol/authorization.ts';
import type { PaymentFault } from '../protocol/envelope.ts';
import type { PaymentOrder } from '../protocol/order.ts';
import { type Settlement, SOON_SECONDS, type Unavailable, unavailable, type VerifyOutcome } from './settlement.ts';
import type { SettlementTurns, Turn, TurnRejection } from './settlement-turns.ts';

/** A sixteenth of what the facilitator is asked at a time, so that junk leaves room for payments. */
const CONTRACT_WALLET_COUNT_MAX = 16;

export interface VerificationParts {
  readonly settlement: Settlement;
  /** Bounds concurrent calls to the settlement; undefined when its calls cost nothing. */
  readonly turns: SettlementTurns | undefined;
  readonly clock: Clock;
}

/** How long an answer takes, as far as its payment must know. */
export interface Pace {
  /** Seconds that the answer may take before the payment settles. */
  readonly answerSeconds?: number;
  /** Whether an ordinary answer takes seconds: its purchase keeps no turn of the facilitator meanwhile. */
  readonly isSlow?: boolean;
}

/** The client that pays, as far as fairness and abandoned requests need it. */
export interface PayingClient {
  /** What counts as one client (client-network.ts). */
  clientNetwork(): string;
  isDisconnected(): boolean;
}

/** No payment of this client can be verified now: it has too many, or the settlement can take none. */
export type Closed = { readonly kind: 'crowded' } | Unavailable;

export type Verified =
  /** The purchase ends the turn, where there is one. */
  | { readonly kind: 'valid'; readonly turn: Turn | undefined }
  | Exclude<VerifyOutcome, { kind: 'valid' }>
  /** Too little time was left when its turn came. */
  | { readonly kind: 'lapsed'; readonly fault: PaymentFault }
  | Closed;

export const CROWDED: Closed = { kind: 'crowded' };

const closedBy = (rejection: TurnRejection): Closed =>
  rejection === 'client-crowded' ? CROWDED : unavailable(`no turn with the settlement: ${rejection}`, SOON_SECONDS);

export class Verification {
  readonly #parts: VerificationParts;
  /** Signatures of contract wallets that the facilitator is being asked about. */
  readonly #contractWallets = new ClientShare(CONTRACT_WALLET_COUNT_MAX);

  constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /** Why nothing can be settled now, or undefined. */
  closed(): Closed | undefined {
    const { kind } = this.#parts.settlement.readiness();
    return kind === 'ready' ? undefined : unavailable(`the settlement is ${kind}`, SOON_SECONDS);
  }

  /**
   * Rejects this client when {@link verify} would do so at once; undefined when it would not. Synchronous: it runs before every
   * reservation.
   */
  closedFor(client: PayingClient): Closed | undefined {
    const closed = this.closed();
    const { turns } = this.#parts;
    if (closed !== undefined || turns === undefined) return closed;
    const rejection = turns.rejectAtOnce(client.clientNetwork());
    return rejection === undefined ? undefined : closedBy(rejection);
  }

  /** Rejects only for a bug, after ending the turn. */
  verify(order: PaymentOrder, client: PayingClient): Promise<Verified> {
    return this.#verify(order, client, ({ kind }) => kind === 'invalid');
  }

  /** As {@link verify}, for a signature that was not recovered here. */
  async verifyContractWallet(order: PaymentOrder, client: PayingClient): Promise<Verified> {
    const giveBack = this.#contractWallets.tryTake(client.clientNetwork());
    if (giveBack === undefined) return CROWDED;
    try {
      // When the facilitator fails on such a signature, that counts as a refusal too: the client caused it.
      return await this.#verify(order, client, ({ kind }) => kind !== 'valid');
    } finally {
      giveBack();
    }
  }

  async #verify(
    order: PaymentOrder,
    client: PayingClient,
    isRefused: (verified: VerifyOutcome) => boolean,
  ): Promise<Verified> {
    const { settlement, turns, clock } = this.#parts;
    if (turns === undefined) {
      const verified = await settlement.verify(order);
      return verified.kind === 'valid' ? { kind: 'valid', turn: undefined } : verified;
    }
    const entered = turns.enter(client.clientNetwork(), () => client.isDisconnected());
    const turn = entered instanceof Promise ? await entered : entered;
    if (typeof turn === 'string') return closedBy(turn);
    let isVerified = false;
    try {
      // Waiting for the turn used up some of the authorization's window.
      const lapsed = turn === entered ? undefined : runwayFault(order.authorization.validBeforeSeconds, clock.nowMs());
      if (lapsed !== undefined) return { kind: 'lapsed', fault: lapsed };
      const verified = await settlement.verify(order);
      isVerified = verified.kind === 'valid';
      if (isRefused(verified)) turn.noteRefused();
      return verified.kind === 'valid' ? { kind: 'valid', turn } : verified;
    } finally {
      if (!isVerified) turn.end();
    }
  }
}
