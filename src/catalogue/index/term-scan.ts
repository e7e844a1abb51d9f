/**
 * Whether a text of a dictionary contains a term, without an index. A text that is all ASCII is searched in place: its
 * compared form (terms.ts) differs only in case and blanks, and a term has no blank. Any other text is decoded.
 *
 * Cost: one load for each four bytes to tell ASCII, then about one in n bytes for a term of n letters (Horspool's search).
 */
import type { TextColumn } from '../snapshot/text-column.ts';

/** By byte: ASCII letters in lower case, other bytes as they are. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

export class TermScan {
  readonly #term: string;
  /** Code units; in an ASCII text these are its bytes. */
  readonly #units: Uint16Array;
  /** By the byte under the term's last letter: how far the term can move on without missing an occurrence. */
  readonly #steps: Uint16Array;

  /** @param term in compared form, not empty */
  constructor(term: string) {
    const last = term.length - 1;
    this.#term = term;
    this.#units = new Uint16Array(term.length);
    this.#steps = new Uint16Array(256).fill(term.length);
    for (let i = 0; i <= last; i++) {
      const unit = term.charCodeAt(i);
      this.#units[i] = unit;
      if (i === last || unit >= 0x80) continue;
      this.#steps[unit] = last - i;
      if (unit >= 0x61 && unit <= 0x7a) this.#steps[unit - 0x20] = last - i;
    }
  }

  isIn(column: TextColumn, code: number): boolean {
    return column.isAscii(code) ? this.isInAscii(column, code) : column.comparedOf(code).includes(this.#term);
  }

  /** The same for a text that is all ASCII. */
  isInAscii(column: TextColumn, code: number): boolean {
    const { bytes } = column;
    const units = this.#units;
    const steps = this.#steps;
    const last = units.length - 1;
    const end = column.endOf(code);
    for (let at = column.startOf(code) + last; at < end; ) {
      const byte = bytes[at]!;
      let i = last;
      if (LOWER[byte] === units[last]) while (--i >= 0 && LOWER[bytes[at - last + i]!] === units[i]);
      if (i < 0) return true;
      at += steps[byte]!;
    }
    return false;
  }
}
