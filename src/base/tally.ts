/** Counts by name. A name whose count is back at zero is forgotten, so memory is bounded by what is counted at the time. */
export class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** @param change below zero takes back what was added */
  add(name: string, change = 1): void {
    const count = this.of(name) + change;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}
