/** What this process knows of a reservation that it made or took over, and what a lost answer of the database left behind. */
import { messageOf } from '../../base/failure.ts';
import type { SaleFacts } from '../../payment/books.ts';
import type { PaymentOrder, ReservationKey } from '../../payment/protocol/order.ts';
import { RecordsUnreadableError, type Reservation } from '../../payment/reservations.ts';

export type State = 'reserved' | 'settling' | 'unknown' | 'ended' | 'free';

/** A reservation of this process. */
export class OpenReservation implements Reservation {
  readonly key: ReservationKey;
  readonly serial: number;
  readonly validBeforeSeconds: number;
  readonly attempt: number;
  /** Digest of its identifier; undefined = none. */
  readonly digest: string | undefined;
  isTakenOver = false;
  state: State = 'reserved';
  transaction = '';
  /** Known from the intent on. */
  intent: { readonly order: PaymentOrder; readonly sale: SaleFacts } | undefined;
  /** Another process has brought it to an end. */
  isGone = false;

  constructor(
    { key, validBeforeSeconds }: Pick<Reservation, 'key' | 'validBeforeSeconds'>,
    serial: number,
    attempt: number,
    digest: string | undefined,
  ) {
    this.key = key;
    this.validBeforeSeconds = validBeforeSeconds;
    this.serial = serial;
    this.attempt = attempt;
    this.digest = digest;
  }
}

/** What a lost answer left behind. */
export interface Doubt {
  readonly key: ReservationKey;
  readonly attempt: number;
  readonly digest: string | undefined;
  /** undefined: the claim itself was in doubt. */
  readonly serial: number | undefined;
}

/** @throws RecordsUnreadableError by rejecting */
export const readable = <T>(reading: Promise<T>): Promise<T> =>
  reading.catch((failure: unknown) => {
    throw new RecordsUnreadableError(messageOf(failure), { cause: failure });
  });
