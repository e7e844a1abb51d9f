/**
 * The distinct texts of one dictionary of a snapshot, by code: UTF-8 in one array and the offset where each starts. A text
 * is decoded when it is read.
 */
import { Buffer } from 'node:buffer';
import { DECODED_TEXTS_MAX, LOADED_TEXT_BYTES_MAX, MEMOIZED_TEXTS_MAX } from '../limits.ts';
import { comparedText } from '../terms.ts';
import { compareText } from './text-order.ts';

export class TextColumn {
  readonly size: number;
  /** One more than there are texts, ascending from 0 to the length of the text; bytes. */
  readonly #offsets: Uint32Array;
  readonly #text: Buffer;
  /** The same bytes four at a time; the last element may end with zeros. */
  readonly #quads: Int32Array;

  /** The bytes of the first `#unitsCount` texts, each byte as one code unit. */
  #units = '';
  #unitsCount = 0;

  /** By code: the compared form, once it was computed. */
  readonly #compared: (string | undefined)[] = [];
  /** By code: the text, once it was decoded, where the dictionary is small: a page of jobs has a hundred skills. */
  readonly #decoded: (string | undefined)[] | undefined;

  constructor(offsets: Uint32Array, text: Uint8Array) {
    this.size = offsets.length - 1;
    // Allocated at full length: V8 turns a sparse array into a hash table.
    if (this.size <= DECODED_TEXTS_MAX) this.#decoded = new Array<undefined>(this.size).fill(undefined);
    this.#offsets = offsets;
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.length);
    const quadCount = Math.ceil(text.length / 4);
    // Sections of a snapshot start at multiples of 8 and are followed by zeros up to the next one.
    this.#quads = new Int32Array(text.buffer, text.byteOffset, quadCount);
  }

  /** Where each text starts, and where the last one ends; bytes; read only. */
  get offsets(): Uint32Array {
    return this.#offsets;
  }

  /**
   * The text of a code. @throws RangeError for a code that points past the texts, as in a file from a faulty builder
   */
  textOf(code: number): string {
    const decoded = this.#decoded;
    if (decoded === undefined) return this.#decode(code);
    let text = decoded[code];
    if (text === undefined) {
      text = this.#decode(code);
      decoded[code] = text;
    }
    return text;
  }

  #decode(code: number): string {
    const start = this.#offsets[code]!;
    const end = this.#offsets[code + 1]!;
    // A served column may not be checked yet (unchecked.ts); past its end there is only undefined, which must not be sold.
    if (!(start <= end)) throw new RangeError(`a code of the snapshot points past its texts: ${code}`);
    // Faster than a TextDecoder on both runtimes, and preserves a leading U+FEFF.
    return this.#text.toString('utf8', start, end);
  }

  /** Makes `pieceOf` fast for the first `count` texts, unless they take too many bytes. */
  loadFirst(count: number): void {
    const length = this.#offsets[count]!;
    const isFew = length <= LOADED_TEXT_BYTES_MAX;
    this.#unitsCount = isFew ? count : 0;
    this.#units = isFew ? this.#text.toString('latin1', 0, length) : '';
  }

  /**
   * The text of a code, cut out of a long string where possible: several times as fast as `textOf`. Node takes twice as long to
   * write such a piece out, so use it for an answer that is written once (bench/search.ts).
   */
  pieceOf(code: number): string {
    if (code >= this.#unitsCount || !this.isAscii(code)) return this.textOf(code);
    return this.#units.slice(this.#offsets[code]!, this.#offsets[code + 1]!);
  }

  /** UTF-8 of all texts one after another; read only. */
  get bytes(): Buffer {
    return this.#text;
  }

  /** Where a text starts in the bytes. There are fewer than 2^31 (limits.ts), which `| 0` tells the compiler. */
  startOf(code: number): number {
    return this.#offsets[code]! | 0;
  }

  endOf(code: number): number {
    return this.#offsets[code + 1]! | 0;
  }

  /** Bytes of a text. */
  lengthOf(code: number): number {
    return this.endOf(code) - this.startOf(code);
  }

  /** Whether a text is all ASCII. Also `false` when one of the three bytes before or after it is not ASCII. */
  isAscii(code: number): boolean {
    const quads = this.#quads;
    const past = (this.endOf(code) + 3) >>> 2;
    let all = 0;
    for (let i = this.startOf(code) >>> 2; i < past; i++) all |= quads[i]!;
    return (all & 0x80808080) === 0;
  }

  /** The text in compared form; memoized when the dictionary is small. */
  comparedOf(code: number): string {
    if (this.size > MEMOIZED_TEXTS_MAX) return comparedText(this.textOf(code));
    let compared = this.#compared[code];
    if (compared === undefined) {
      compared = comparedText(this.textOf(code));
      this.#compared[code] = compared;
    }
    return compared;
  }

  /** Compares two texts in code-unit order, as a comparator. */
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

  /** The first code whose text equals UTF-8 bytes, where the texts ascend by code unit. */
  firstEqual(bytes: Uint8Array): number | undefined {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareTo(middle, bytes) < 0) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.compareTo(low, bytes) === 0 ? low : undefined;
  }

  /** Compares a text with UTF-8 bytes in code-unit order, as a comparator. */
  compareTo(code: number, bytes: Uint8Array): number {
    return compareText(this.#text, this.#offsets[code]!, this.#offsets[code + 1]!, bytes, 0, bytes.length);
  }
}
