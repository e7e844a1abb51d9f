/**
 * Splits bytes into lines. A line ends at LF or CRLF; a BOM at the very start is dropped; blank lines count but are not
 * yielded. UTF-8 is checked line by line, so a bad line does not affect its neighbours.
 * Memory: the chunks of one line, up to `lineBytesMax`; a longer line is yielded in parts as they come, so that the
 * caller can copy it elsewhere without having it in memory. The bytes of an item are views of its chunk.
 */
import { parseJson } from '../../base/json-value.ts';
import { MIB } from '../../base/sizes.ts';

/** Longest line, in bytes. The longest of 260,000 real postings, description included, is under 200 KiB. */
const LINE_BYTES_MAX = 4 * MIB;

export type LineItem =
  /** `number` counts from 1; `bytes` exclude the line's end. */
  | { readonly kind: 'line'; readonly number: number; readonly text: string; readonly bytes: Uint8Array }
  /** A line that cannot be read. `bytes` are the rest of it, after any parts. */
  | { readonly kind: 'unreadable'; readonly number: number; readonly reason: string; readonly bytes: Uint8Array }
  /** The next bytes of a line that is too long; its `unreadable` follows. */
  | { readonly kind: 'part'; readonly bytes: Uint8Array };

const LF = 0x0a;
const CR = 0x0d;
const BOM = [0xef, 0xbb, 0xbf] as const;
const NOTHING = new Uint8Array(0);

export class LineSplitter {
  readonly #lineBytesMax: number;
  // `#complete` drops the BOM of the first line; the decoder would drop one from every line.
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #number = 0;
  /** The unfinished line, oldest piece first; empty when `#overlong`. */
  #pieces: Uint8Array[] = [];
  #pendingBytes = 0;
  #overlong = false;

  constructor(lineBytesMax: number = LINE_BYTES_MAX) {
    this.#lineBytesMax = lineBytesMax;
  }

  /**
   * The lines that `chunk` completes, in order. The splitter keeps a reference to the chunk if it ends in an unfinished line.
   */
  *push(chunk: Uint8Array): Generator<LineItem, void, void> {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LF, from);
      if (end === -1) break;
      yield* this.#complete(chunk.subarray(from, end));
      from = end + 1;
    }
    yield* this.#addPiece(chunk.subarray(from));
  }

  /** Number of the last finished line; 0 = none yet. */
  get lineNumber(): number {
    return this.#number;
  }

  /** The last line, when the input does not end with a line's end. */
  *finish(): Generator<LineItem, void, void> {
    if (this.#overlong || this.#pendingBytes > 0) yield* this.#complete(NOTHING);
  }

  *#addPiece(piece: Uint8Array): Generator<LineItem, void, void> {
    if (piece.length === 0) return;
    if (!this.#overlong && this.#pendingBytes + piece.length <= this.#lineBytesMax) {
      this.#pieces.push(piece);
      this.#pendingBytes += piece.length;
      return;
    }
    for (const pending of this.#pieces) yield { kind: 'part', bytes: pending };
    this.#pieces = [];
    this.#pendingBytes = 0;
    this.#overlong = true;
    yield { kind: 'part', bytes: piece };
  }

  *#complete(tail: Uint8Array): Generator<LineItem, void, void> {
    this.#number++;
    if (this.#overlong || this.#pendingBytes + tail.length > this.#lineBytesMax) {
      for (const pending of this.#pieces) yield { kind: 'part', bytes: pending };
      this.#pieces = [];
      this.#pendingBytes = 0;
      this.#overlong = false;
      const reason = `is longer than ${this.#lineBytesMax} bytes`;
      yield { kind: 'unreadable', number: this.#number, reason, bytes: withoutCr(tail) };
      return;
    }
    let bytes = withoutCr(this.#pieces.length === 0 ? tail : this.#joined(tail));
    if (this.#number === 1 && BOM.every((byte, at) => bytes[at] === byte)) bytes = bytes.subarray(BOM.length);
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      yield { kind: 'unreadable', number: this.#number, reason: 'is not valid UTF-8', bytes };
      return;
    }
    if (text.trim() !== '') yield { kind: 'line', number: this.#number, text, bytes };
  }

  #joined(tail: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.#pendingBytes + tail.length);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    whole.set(tail, at);
    this.#pieces = [];
    this.#pendingBytes = 0;
    return whole;
  }
}

/** Whether a last line without a line end is whole JSON; otherwise the input was truncated in it. */
export function isWholeRecord(item: LineItem): boolean {
  return item.kind === 'line' && parseJson(item.text) !== undefined;
}

function withoutCr(bytes: Uint8Array): Uint8Array {
  return bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
}
