/** The journal of the reservations, over the state file. */
import { orderTextOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import type { ReservationJournal } from '../../payment/reservations.ts';
import type { UsedAuthorization } from '../../payment/used-authorizations.ts';
import type { Journal } from './journal.ts';

export class SqlitePayments implements ReservationJournal {
  readonly #journal: Journal;
  readonly #isPlay: boolean;
  /** Serials whose records may go and are not yet on their way. */
  #forgotten: number[] = [];
  #isForgetting = false;

  /** @param isPlay settlements move play money, whose sums are kept with them */
  constructor(journal: Journal, isPlay: boolean) {
    this.#journal = journal;
    this.#isPlay = isPlay;
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  recordIntent(serial: number, order: PaymentOrder): Promise<void> {
    const { from, valueAtomic } = order.authorization;
    return this.#journal.write({
      kind: 'intent',
      serial,
      isPlay: this.#isPlay,
      payer: from,
      valueAtomic,
      order: orderTextOf(order),
    });
  }

  recordUnknown(serial: number, transaction: string): Promise<void> {
    return this.#journal.write({ kind: 'unknown', serial, transaction });
  }

  recordEnd(serial: number, end: UsedAuthorization): Promise<void> {
    return this.#journal.write({ kind: 'end', serial, end });
  }

  recordReleased(serial: number): Promise<void> {
    return this.#journal.write({ kind: 'release', serial });
  }

  /** What could not be removed is tried again with the next one, and at the next start. */
  forget(serial: number): void {
    this.#forgotten.push(serial);
    if (!this.#isForgetting) void this.#removeForgotten();
  }

  async #removeForgotten(): Promise<void> {
    this.#isForgetting = true;
    while (this.#forgotten.length > 0) {
      const serials = this.#forgotten;
      this.#forgotten = [];
      try {
        await this.#journal.write({ kind: 'forget', serials });
      } catch {
        this.#forgotten = [...serials, ...this.#forgotten];
        break;
      }
    }
    this.#isForgetting = false;
  }
}
