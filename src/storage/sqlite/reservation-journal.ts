/** The journal of the reservations, over the state file. */
import type { Sale, SaleFacts } from '../../payment/books.ts';
import { orderTextOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import type { ReservationJournal } from '../memory/reservation-journal.ts';
import type { UsedAuthorization } from '../memory/used-authorizations.ts';
import type { Journal } from './journal.ts';
import { PAYMENTS, type PaymentOperation } from './tables/payments.ts';

export class SqliteReservationJournal implements ReservationJournal {
  readonly #journal: Journal;
  readonly #isPlay: boolean;
  readonly #onSold: (sale: Sale) => void;
  /** Serials of records to remove with the next removal. */
  #forgotten: number[] = [];
  #isForgetting = false;

  /**
   * @param isPlay settlements move play money, whose sums the state file stores too
   * @param onSold called with each sale that is on record
   */
  constructor(journal: Journal, isPlay: boolean, onSold: (sale: Sale) => void) {
    this.#journal = journal;
    this.#isPlay = isPlay;
    this.#onSold = onSold;
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  recordIntent(serial: number, order: PaymentOrder, sale: SaleFacts): Promise<void> {
    const { from, valueAtomic } = order.authorization;
    return this.#write({
      table: PAYMENTS,
      kind: 'intent',
      serial,
      isPlay: this.#isPlay,
      payer: from,
      valueAtomic,
      order: orderTextOf(order),
      sale: JSON.stringify(sale),
    });
  }

  recordUnknown(serial: number, transaction: string): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'unknown', serial, transaction });
  }

  async recordEnd(serial: number, end: UsedAuthorization, sale: Sale | undefined): Promise<void> {
    await this.#write({ table: PAYMENTS, kind: 'end', serial, end, sale });
    if (sale !== undefined) this.#onSold(sale);
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
