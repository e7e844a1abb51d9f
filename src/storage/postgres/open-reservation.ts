/** What this process knows about a reservation that it made or took over. */
import type { SaleFacts } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import type { PaymentOrder, ReservationKey } from '../../payment/protocol/order.ts';
import { NO_CLAIMS, type Reservation } from '../../payment/reservations.ts';
import type { FoundCase } from './cases.ts';

export type State = 'reserved' | 'settling' | 'unknown' | 'ended' | 'free';

/** What a purchase claims: all of it or nothing. */
export interface Wanted extends Pick<Reservation, 'key' | 'validBeforeSeconds'> {
  /** Its identifiers. */
  readonly claims: readonly IdentifierClaim[];
}

/** A reservation of this process. */
export class OpenReservation implements Reservation {
  readonly key: ReservationKey;
  readonly serial: number;
  readonly validBeforeSeconds: number;
  readonly attempt: number;
  /** Its identifiers. */
  readonly claims: readonly IdentifierClaim[];
  isTakenOver = false;
  isRefused = false;
  state: State = 'reserved';
  transaction = '';
  /** Known from the intent on. */
  intent: { readonly order: PaymentOrder; readonly sale: SaleFacts } | undefined;
  /** Another process has ended it. */
  isGone = false;
  /**
   * A record of ours whose answer was lost may have entered the sale, so the next one counts it. A sale counts twice only if it
   * had not, and another process took the case over and entered it: that takes a process that was cut off alone.
   */
  mayBeSold = false;

  constructor({ key, validBeforeSeconds, claims }: Wanted, serial: number, attempt: number) {
    this.key = key;
    this.validBeforeSeconds = validBeforeSeconds;
    this.serial = serial;
    this.attempt = attempt;
    this.claims = claims;
  }

  /** The reservation of a case that this process took over. */
  static takenOver({ serial, attempt, order, sale, transaction, isRefused }: FoundCase): OpenReservation {
    const { validBeforeSeconds } = order.authorization;
    const taken = new OpenReservation({ key: order.key, validBeforeSeconds, claims: NO_CLAIMS }, serial, attempt);
    taken.isTakenOver = true;
    taken.isRefused = isRefused;
    taken.state = 'unknown';
    taken.transaction = transaction;
    taken.intent = { order, sale };
    return taken;
  }
}
