/** The journal of a process that writes nothing to disk: it enters sales into the books and holds the sealed answers. */
import type { Sale } from '../../payment/books.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import type { MemoryBooks } from './books.ts';
import type { AnswerToKeep, ReservationJournal } from './reservation-journal.ts';
import type { UsedAuthorization } from './used-authorizations.ts';

export class MemoryJournal implements ReservationJournal {
  readonly #books: MemoryBooks;
  /** By serial, then by the digest of the identifier. */
  readonly #sealed = new Map<number, Map<string, Uint8Array>>();

  constructor(books: MemoryBooks) {
    this.#books = books;
  }

  fault(): undefined {}

  async recordIntent(
    serial: number,
    _order: PaymentOrder,
    _sale: unknown,
    answers: readonly AnswerToKeep[],
  ): Promise<void> {
    if (answers.length === 0) return;
    this.#sealed.set(serial, new Map(answers.map(({ claim, sealed }) => [claim.digest, sealed])));
  }

  async recordUnknown(): Promise<void> {}

  async recordEnd(_serial: number, { key }: UsedAuthorization, sale: Sale | undefined): Promise<void> {
    if (sale !== undefined) this.#books.add(sale, key);
  }

  async recordReleased(serial: number): Promise<void> {
    this.#sealed.delete(serial);
  }

  async readAnswer(serial: number, digest: string): Promise<Uint8Array | undefined> {
    return this.#sealed.get(serial)?.get(digest);
  }

  async replaceAnswer(serial: number, digest: string, sealed: Uint8Array): Promise<void> {
    const answers = this.#sealed.get(serial);
    if (answers?.has(digest) === true) answers.set(digest, sealed);
  }

  forgetAnswers(serial: number): void {
    this.#sealed.delete(serial);
  }

  forget(): void {}
}
