/**
 * The distinct texts of one dictionary of a snapshot, read by code: UTF-8 in one array and the place where each
 * starts. Nothing is decoded before it is asked for.
 */
import { compareText } from './text-order.ts';

// A text may begin with U+FEFF, which a decoder would otherwise take for a byte order mark and drop.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class TextColumn {
  readonly size: number;
  /** One more than there are texts, ascending from 0 to the length of the text; bytes. */
  readonly #offsets: Uint32Array;
  readonly #text: Uint8Array;

  constructor(offsets: Uint32Array, text: Uint8Array) {
    this.size = offsets.length - 1;
    this.#offsets = offsets;
    this.#text = text;
  }

  /** The text of a code below `size`. */
  textOf(code: number): string {
    return decoder.decode(this.#text.subarray(this.#offsets[code]!, this.#offsets[code + 1]!));
  }

  /** Two texts in code-unit order, as a comparator answers. */
  compare(left: number, right: number): number {
    const offsets = this.#offsets;
    return compareText(
      this.#text,
      offsets[left]!,
      offsets[left + 1]!,
      this.#text,
      offsets[right]!,
      offsets[right + 1]!,
    );
  }

  /** The text of a code against UTF-8 bytes, in code-unit order, as a comparator answers. */
  compareTo(code: number, bytes: Uint8Array): number {
    return compareText(this.#text, this.#offsets[code]!, this.#offsets[code + 1]!, bytes, 0, bytes.length);
  }
}
