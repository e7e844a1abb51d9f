/**
 * The distinct texts of one dictionary of a snapshot, read by code: UTF-8 in one array and the place where each
 * starts. Nothing is decoded before it is asked for.
 */
import { Buffer } from 'node:buffer';
import { REMEMBERED_TEXTS_MAX } from '../limits.ts';
import { comparedText } from '../terms.ts';
import { compareText } from './text-order.ts';

export class TextColumn {
  readonly size: number;
  /** One more than there are texts, ascending from 0 to the length of the text; bytes. */
  readonly #offsets: Uint32Array;
  readonly #text: Buffer;
  /** The same bytes four at a time, filled up with zeros. */
  readonly #quads: Int32Array;

  /** The bytes of the first texts, each as one code unit, and how many texts that are. */
  #units = '';
  #unitsCount = 0;

  /** Compared forms that were asked for, by code. */
  readonly #compared: (string | undefined)[] = [];

  constructor(offsets: Uint32Array, text: Uint8Array) {
    this.size = offsets.length - 1;
    this.#offsets = offsets;
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.length);
    const quadCount = Math.ceil(text.length / 4);
    // Sections of a snapshot start at multiples of 8 and are followed by zeros up to the next one.
    this.#quads = new Int32Array(text.buffer, text.byteOffset, quadCount);
  }

  /** The text of a code below `size`. */
  textOf(code: number): string {
    // 135 ns where a TextDecoder takes 234 (Node 26; Bun 104 and 139), and a leading U+FEFF stays.
    return this.#text.toString('utf8', this.#offsets[code]!, this.#offsets[code + 1]!);
  }

  /** Makes `pieceOf` quick for the first `count` texts, unless they take more than `bytesMax`. */
  keepFirst(count: number, bytesMax: number): void {
    const length = this.#offsets[count]!;
    this.#unitsCount = length > bytesMax ? 0 : count;
    this.#units = length > bytesMax ? '' : this.#text.toString('latin1', 0, length);
  }

  /**
   * The same text, cut out of a long one where that is possible: 15 ns where `textOf` takes 180 (Node 26.10.0; Bun 1.4.5 22 and
   * 138). Node takes twice as long to write it out again, 0.07 µs, so it is for an answer that is written once.
   */
  pieceOf(code: number): string {
    if (code >= this.#unitsCount || !this.isAscii(code)) return this.textOf(code);
    return this.#units.slice(this.#offsets[code]!, this.#offsets[code + 1]!);
  }

  /** UTF-8 of all texts one after another; not to be modified. */
  get bytes(): Uint8Array {
    return this.#text;
  }

  /** Where a text starts in the bytes. They are less than 2^31 (limits.ts), which `| 0` tells the compiler. */
  startOf(code: number): number {
    return this.#offsets[code]! | 0;
  }

  endOf(code: number): number {
    return this.#offsets[code + 1]! | 0;
  }

  /** Whether a text is ASCII alone; `false` too where one of the three bytes before or after it is not. */
  isAscii(code: number): boolean {
    const quads = this.#quads;
    const past = (this.endOf(code) + 3) >>> 2;
    let all = 0;
    for (let i = this.startOf(code) >>> 2; i < past; i++) all |= quads[i]!;
    return (all & 0x80808080) === 0;
  }

  /** The text in the form in which texts compare; remembered when the dictionary is small. */
  comparedOf(code: number): string {
    if (this.size > REMEMBERED_TEXTS_MAX) return comparedText(this.textOf(code));
    let compared = this.#compared[code];
    if (compared === undefined) {
      compared = comparedText(this.textOf(code));
      this.#compared[code] = compared;
    }
    return compared;
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
