/** A look at the books passes over sales of this time as undelivered: their answer may be on its way, or its record. */
export const ON_ITS_WAY_MS = 5000;

/** The numbers of the books that metrics show without reading the books. */
export class SaleCounts {
  /** Sales since the start of the process. */
  readonly byOperation = new Map<string, number>();
  /** Where deliveries are recorded later, as of the last look at the books: it does not rise with each sale until the next one. */
  undeliveredCount: number;

  /** @param undeliveredCount sales of earlier processes whose answer did not go out */
  constructor(undeliveredCount = 0) {
    this.undeliveredCount = undeliveredCount;
  }

  sold(operation: string): void {
    this.byOperation.set(operation, (this.byOperation.get(operation) ?? 0) + 1);
  }
}
