/**
 * Counts codes of a dictionary and returns the most frequent: count descending, then code ascending, which is text
 * ascending for dictionaries numbered by text. It reuses one array over the dictionary, all zero between uses, so that
 * a small question does not pay for a large dictionary.
 */
import { keepTop } from '../../base/top-list.ts';

export interface CountedCode {
  readonly code: number;
  readonly count: number;
}

export class CodeCounts {
  readonly #counts: Uint32Array;
  /** The counted codes, each once. */
  readonly #seen: Uint32Array;
  #seenCount = 0;

  constructor(codeCount: number) {
    this.#counts = new Uint32Array(codeCount);
    this.#seen = new Uint32Array(codeCount);
  }

  /** Counts `codes[row]` for each of `rows`. */
  addOf(rows: Uint32Array, codes: Uint16Array | Uint32Array): void {
    const counts = this.#counts;
    const seen = this.#seen;
    let seenCount = this.#seenCount;
    for (let i = 0; i < rows.length; i++) {
      const code = codes[rows[i]!]!;
      const count = counts[code]!;
      if (count === 0) seen[seenCount++] = code;
      counts[code] = count + 1;
    }
    this.#seenCount = seenCount;
  }

  /** Counts `codes[offsets[row]] .. codes[offsets[row + 1] - 1]` for each of `rows`. */
  addAllOf(rows: Uint32Array, offsets: Uint32Array, codes: Uint16Array | Uint32Array): void {
    const counts = this.#counts;
    const seen = this.#seen;
    let seenCount = this.#seenCount;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      const end = offsets[row + 1]!;
      for (let place = offsets[row]!; place < end; place++) {
        const code = codes[place]!;
        const count = counts[code]!;
        if (count === 0) seen[seenCount++] = code;
        counts[code] = count + 1;
      }
    }
    this.#seenCount = seenCount;
  }

  /** All counts, in no order, and resets them. */
  take(): CountedCode[] {
    const taken: CountedCode[] = [];
    for (let i = 0; i < this.#seenCount; i++) {
      const code = this.#seen[i]!;
      taken.push({ code, count: this.#counts[code]! });
      this.#counts[code] = 0;
    }
    this.#seenCount = 0;
    return taken;
  }
}

/** The `limit` most frequent, in order. */
export function mostFrequent(counted: readonly CountedCode[], limit: number): CountedCode[] {
  const top: CountedCode[] = [];
  for (const entry of counted) keepTop(top, entry, limit, comesBefore);
  return top;
}

function comesBefore(left: CountedCode, right: CountedCode): boolean {
  return left.count !== right.count ? left.count > right.count : left.code < right.code;
}
