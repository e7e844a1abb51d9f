/**
 * Counting codes of a dictionary and naming the most frequent: count descending, then code ascending, which is text
 * ascending for dictionaries that are numbered by text. The counts are one array over the dictionary that is kept, all
 * zero, between uses, so a small question does not pay for a large dictionary.
 */
export class CodeCounts {
  readonly #counts: Uint32Array;
  #seen: number[] = [];

  constructor(codeCount: number) {
    this.#counts = new Uint32Array(codeCount);
  }

  add(code: number): void {
    const count = this.#counts[code]!;
    if (count === 0) this.#seen.push(code);
    this.#counts[code] = count + 1;
  }

  /** The `limit` most frequent codes with their counts; starts again from nothing. */
  takeTop(limit: number): { code: number; count: number }[] {
    const counts = this.#counts;
    const top: { code: number; count: number }[] = [];
    for (const code of this.#seen) {
      const count = counts[code]!;
      counts[code] = 0;
      let place = top.length;
      while (place > 0 && comesBefore(code, count, top[place - 1]!)) place--;
      if (place === limit) continue;
      if (top.length === limit) top.pop();
      top.splice(place, 0, { code, count });
    }
    this.#seen = [];
    return top;
  }
}

function comesBefore(code: number, count: number, other: { code: number; count: number }): boolean {
  return count !== other.count ? count > other.count : code < other.code;
}
