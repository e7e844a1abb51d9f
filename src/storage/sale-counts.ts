import type { ShownSaleCounts } from '../payment/books.ts';

/**
 * A look at the books does not count sales younger than this as undelivered: the answer, or the record of its delivery,
 * may be in flight.
 */
export const ON_ITS_WAY_MS = 5000;

export class SaleCounts implements ShownSaleCounts {
  readonly byOperation = new Map<string, number>();
  /**
   * Where deliveries are recorded later, as of the last look at the books: it does not rise with each sale in between.
   */
  undeliveredCount: number;

  /** @param undeliveredCount sales of earlier processes whose answer was not delivered */
  constructor(undeliveredCount = 0) {
    this.undeliveredCount = undeliveredCount;
  }

  /** Counts a sale whose settlement is on record. */
  sold(operation: string): void {
    this.byOperation.set(operation, (this.byOperation.get(operation) ?? 0) + 1);
  }
}
