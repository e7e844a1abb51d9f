/** The journal of the reservations, over the state file. */
import type { Clock } from '../../base/clock.ts';
import type { Sale, SaleFacts } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import { orderTextOf, type PaymentOrder } from '../../payment/protocol/order.ts';
import { KEPT_MS } from '../../payment/reservations.ts';
import type { AnswerToKeep, ReservationJournal } from '../memory/reservation-journal.ts';
import type { UsedAuthorization } from '../memory/used-authorizations.ts';
import type { Journal } from './journal.ts';
import { Removals } from './removals.ts';
import { ANSWERS, type AnswerOperation, type AnswerQuery } from './tables/answers.ts';
import { PAYMENTS, type PaymentOperation } from './tables/payments.ts';

export interface ReservationJournalOptions {
  /** Settlements move play money, whose sums the state file stores too. */
  readonly isPlay: boolean;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Called with each sale that is on record. */
  readonly onSold: (sale: Sale) => void;
}

export class SqliteReservationJournal implements ReservationJournal {
  readonly #journal: Journal;
  readonly #options: ReservationJournalOptions;
  readonly #used: Removals;
  readonly #answers: Removals;

  constructor(journal: Journal, options: ReservationJournalOptions) {
    this.#journal = journal;
    this.#options = options;
    this.#used = new Removals((serials) => this.#write({ table: PAYMENTS, kind: 'forget', serials }));
    this.#answers = new Removals((serials) => this.#write({ table: ANSWERS, kind: 'forget', serials }));
  }

  fault(): string | undefined {
    return this.#journal.fault();
  }

  recordIntent(serial: number, order: PaymentOrder, sale: SaleFacts, answers: readonly AnswerToKeep[]): Promise<void> {
    const { from, valueAtomic } = order.authorization;
    return this.#write({
      table: PAYMENTS,
      kind: 'intent',
      serial,
      isPlay: this.#options.isPlay,
      payer: from,
      valueAtomic,
      order: orderTextOf(order),
      sale: JSON.stringify(sale),
      answers,
    });
  }

  recordUnknown(serial: number, transaction: string, isRefused: boolean): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'unknown', serial, transaction, isRefused });
  }

  async recordEnd(
    serial: number,
    end: UsedAuthorization,
    sale: Sale | undefined,
    claims: readonly IdentifierClaim[],
  ): Promise<void> {
    const keptUntilMs = this.#options.clock.nowMs() + KEPT_MS;
    await this.#write({ table: PAYMENTS, kind: 'end', serial, end, sale, claims, keptUntilMs });
    if (sale !== undefined) this.#options.onSold(sale);
  }

  recordReleased(serial: number): Promise<void> {
    return this.#write({ table: PAYMENTS, kind: 'release', serial });
  }

  readAnswer(serial: number, digest: string): Promise<Uint8Array | undefined> {
    const query: AnswerQuery = { table: ANSWERS, serial, digest };
    return this.#journal.read(query) as Promise<Uint8Array | undefined>;
  }

  replaceAnswer(serial: number, digest: string, sealed: Uint8Array): Promise<void> {
    return this.#write({ table: ANSWERS, kind: 'replace', serial, digest, sealed });
  }

  forgetAnswers(serial: number): void {
    this.#answers.add(serial);
  }

  forget(serial: number): void {
    this.#used.add(serial);
  }

  #write(operation: PaymentOperation | AnswerOperation): Promise<void> {
    return this.#journal.write(operation);
  }
}
