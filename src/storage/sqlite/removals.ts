/** Collects the serials of records that may be removed, and removes many at a time. */
export class Removals {
  readonly #remove: (serials: readonly number[]) => Promise<void>;
  #serials: number[] = [];
  #isRemoving = false;

  /** @param remove may reject; its serials are then removed with the next ones, or by the next start */
  constructor(remove: (serials: readonly number[]) => Promise<void>) {
    this.#remove = remove;
  }

  add(serial: number): void {
    this.#serials.push(serial);
    if (!this.#isRemoving) void this.#removeAll();
  }

  async #removeAll(): Promise<void> {
    this.#isRemoving = true;
    while (this.#serials.length > 0) {
      const serials = this.#serials;
      this.#serials = [];
      try {
        await this.#remove(serials);
      } catch {
        this.#serials = [...serials, ...this.#serials];
        break;
      }
    }
    this.#isRemoving = false;
  }
}
