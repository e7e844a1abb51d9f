/** The journal of a process that writes nothing to disk: it enters sales into the books and holds the sealed answers. */
import type { Sale } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import type { MemoryBooks } from './books.ts';
import type { AnswerToKeep, ReservationJournal } from './reservation-journal.ts';
import type { UsedAuthorization } from './used-authorizations.ts';

export class MemoryJournal implements ReservationJournal {
  readonly #books: MemoryBooks;
  readonly #sealed = new Map<number, Uint8Array>();

  constructor(books: MemoryBooks) {
    this.#books = books;
  }

  fault(): undefined {}

  async recordIntent(serial: number, _order: PaymentOrder, _sale: unknown, answer?: AnswerToKeep): Promise<void> {
    if (answer !== undefined) this.#sealed.set(serial, answer.sealed);
  }

  async recordUnknown(): Promise<void> {}

  async recordEnd(
    serial: number,
    { key }: UsedAuthorization,
    sale: Sale | undefined,
    _claim: IdentifierClaim | undefined,
  ): Promise<void> {
    if (sale === undefined) this.#sealed.delete(serial);
    else this.#books.add(sale, key);
  }

  async recordReleased(serial: number): Promise<void> {
    this.#sealed.delete(serial);
  }

  async readAnswer(serial: number): Promise<Uint8Array | undefined> {
    return this.#sealed.get(serial);
  }

  async replaceAnswer(serial: number, sealed: Uint8Array): Promise<void> {
    if (this.#sealed.has(serial)) this.#sealed.set(serial, sealed);
  }

  forgetAnswer(serial: number): void {
    this.#sealed.delete(serial);
  }

  forget(): void {}
}
