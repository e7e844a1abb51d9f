/** The journal of the reservations, over the state file. */
import { orderTextOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import type { ReservationJournal } from '../memory/reservation-journal.ts';
import type { UsedAuthorization } from '../memory/used-authorizations.ts';
import type { Journal } from './journal.ts';
import { PAYMENTS, type PaymentOperation } from './tables/payments.ts';

export class SqliteReservationJournal implements ReservationJournal {
  readonly #journal: Journal;
  readonly #isPlay: boolean;
  /** Serials of records to remove with the next removal. */
  #forgotten: number[] = [];
  #isForgetting = false;

  /** @param isPlay settlements move play money, whose sums the state file stores too */
  constructor(journal: Journal, isPlay: boolean) {
    this.#journal = journal;
    this.#isPlay = isPlay;
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  recordIntent(serial: number, order: PaymentOrder): Promise<void> {
    const { from, valueAtomic } = order.authorization;
    return this.#write({
      table: PAYMENTS,
      kind: 'intent',
      serial,
      isPlay: this.#isPlay,
      payer: from,
      valueAtomic,
      order: orderTextOf(order),
    });
  }

  recordUnknown(serial: number, transaction: string): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'unknown', serial, transaction });
  }

  recordEnd(serial: number, end: UsedAuthorization): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'end', serial, end });
  }

  recordReleased(serial: number): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'release', serial });
  }

  /** Collects serials for one removal. A removal that fails is repeated with the next one, and at the next start. */
  forget(serial: number): void {
    this.#forgotten.push(serial);
    if (!this.#isForgetting) void this.#removeForgotten();
  }

  #write(operation: PaymentOperation): Promise<void> {
    return this.#journal.write(operation);
  }

  async #removeForgotten(): Promise<void> {
    this.#isForgetting = true;
    while (this.#forgotten.length > 0) {
      const serials = this.#forgotten;
      this.#forgotten = [];
      try {
        await this.#write({ table: PAYMENTS, kind: 'forget', serials });
      } catch {
        this.#forgotten = [...serials, ...this.#forgotten];
        break;
      }
    }
    this.#isForgetting = false;
  }
}
