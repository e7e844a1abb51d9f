/**
 * The reservation of a purchase: reserves the authorization and the names that the client gave, or returns what is known of
 * them (decisions §4). A used authorization decides first; then a name gives its kept answer, even while the settlement is
 * unavailable; only then does it matter whether something new can be sold.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import { OutageError } from '../base/outage.ts';
import { runwayFault } from './protocol/authorization.ts';
import { identifierClaim } from './protocol/identifier.ts';
import type { Address } from './protocol/network.ts';
import type { PaymentOrder } from './protocol/order.ts';
import { invalid, type PurchaseName, type PurchaseNames, type Rejected, type Resale } from './purchase.ts';
import type { KeptAnswer, Known, Reservation, Reservations, Reserved } from './reservations.ts';
import { openAnswer } from './sealed-answer.ts';
import { SOON_SECONDS, unavailable } from './settlement/settlement.ts';
import type { Closed, Pace, PayingClient } from './settlement/verification.ts';

/** A verified order that is still to be reserved. */
export interface Wish {
  readonly order: PaymentOrder;
  readonly client: PayingClient;
  readonly names: PurchaseNames;
  readonly pace: Pace;
}

/** Why nothing was reserved. */
export type NotReserved = { readonly kind: 'resale'; readonly resale: Resale } | Rejected;

/** Nothing can be sold anyway, so unreadable records count as knowing nothing. */
function nothingKnown(failure: unknown): undefined {
  if (!(failure instanceof OutageError)) throw failure;
}

export class Reserving {
  readonly #reservations: Reservations;
  readonly #clock: Clock;

  constructor(reservations: Reservations, clock: Clock) {
    this.#reservations = reservations;
    this.#clock = clock;
  }

  /** @param closed why nothing new can be sold now; undefined = it can */
  reserve(wish: Wish, closed: Closed | undefined): MaybePromise<Reservation | NotReserved> {
    const { order, names } = wish;
    const claims = names.map(({ id, question }) => identifierClaim(id, question, order.payer));
    if (closed !== undefined) {
      const found = this.#reservations.find(order.key, claims);
      return chain(found instanceof Promise ? found.catch(nothingKnown) : found, (known) =>
        known === undefined ? closed : this.#knownOr(wish, known),
      );
    }
    const reserved = this.#reservations.reserve(order.key, order.authorization.validBeforeSeconds, claims);
    // Waiting for the store used up some of the authorization's window.
    if (reserved instanceof Promise) return reserved.then((later) => this.#stillInTime(wish, later));
    return this.#reservedOr(wish, reserved);
  }

  async #stillInTime(wish: Wish, reserved: Reserved): Promise<Reservation | NotReserved> {
    if (reserved.kind !== 'reserved') return this.#reservedOr(wish, reserved);
    const lapsed = runwayFault(wish.order.authorization.validBeforeSeconds, this.#clock.nowMs());
    if (lapsed === undefined) return reserved.reservation;
    await this.#reservations.release(reserved.reservation);
    return invalid(lapsed);
  }

  #reservedOr(wish: Wish, reserved: Reserved): MaybePromise<Reservation | NotReserved> {
    switch (reserved.kind) {
      case 'reserved':
        return reserved.reservation;
      case 'no-room':
        return { kind: 'no-room' };
      case 'full':
        return unavailable('the store of reservations is full');
      case 'unavailable':
        return unavailable(reserved.detail);
      default:
        return this.#knownOr(wish, reserved);
    }
  }

  #knownOr({ order, names }: Wish, known: Known): MaybePromise<NotReserved> {
    switch (known.kind) {
      case 'taken':
        return { kind: 'used', status: known.status, payer: order.payer };
      case 'kept':
        return this.#resell(known.kept, names, known.place, order.payer);
      case 'under-way':
        return { kind: 'under-way', payer: order.payer };
      case 'conflict':
        return { kind: 'conflict', name: names[known.place] as PurchaseName };
      default:
        return known satisfies never;
    }
  }

  /** The content of a kept answer; undefined when its time has just ended. */
  async contentOf({ kept, name }: Pick<Resale, 'kept' | 'name'>): Promise<string | undefined> {
    const sealed = await this.#reservations.readKept(kept);
    return sealed && openAnswer(name.id, sealed);
  }

  async #resell(kept: KeptAnswer, names: PurchaseNames, place: number, payer: Address): Promise<NotReserved> {
    const name = names[place] as PurchaseName;
    try {
      const content = await this.contentOf({ kept, name });
      if (content === undefined) return unavailable('the time of a kept answer has just ended', SOON_SECONDS);
      return { kind: 'resale', resale: { kept, name, names, payer, content } };
    } catch (failure) {
      return unavailable(`a kept answer cannot be read: ${messageOf(failure)}`);
    }
  }
}
