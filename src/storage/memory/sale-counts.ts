/** The numbers of the books that metrics show without reading the books. */
export class SaleCounts {
  /** Sales since the start of the process. */
  readonly byOperation = new Map<string, number>();
  undeliveredCount: number;

  /** @param undeliveredCount sales of earlier processes whose answer did not go out */
  constructor(undeliveredCount = 0) {
    this.undeliveredCount = undeliveredCount;
  }

  /** Counts a sale, whose answer has not gone out yet. */
  sold(operation: string): void {
    this.byOperation.set(operation, (this.byOperation.get(operation) ?? 0) + 1);
    this.undeliveredCount++;
  }
}
