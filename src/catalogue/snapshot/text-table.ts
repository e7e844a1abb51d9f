/**
 * The distinct texts of a snapshot that is being built: a new text gets the next number. UTF-8 in one growing array, with an
 * open-addressed hash table over it. A text costs its bytes, 4 for its end, 4 for its hash and 8 to 16 for its slot; a Map
 * of strings takes about 100 more. Texts are well-formed Unicode.
 */
import { TEXT_BYTES_MAX } from '../limits.ts';
import { grown } from './column-arrays.ts';
import { SnapshotError } from './snapshot-error.ts';
import { compareText } from './text-order.ts';

/** Up to this many bytes a loop is faster than a view and a copy. */
const COPIED_ALONE_MAX = 48;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class TextBytes {
  bytes = new Uint8Array(1024);
  length = 0;

  /** Makes room for `count` more bytes. @throws SnapshotError past TEXT_BYTES_MAX */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    if (needed > TEXT_BYTES_MAX) throw new SnapshotError('the texts of the catalogue take more than 4 GiB');
    const length = Math.min(TEXT_BYTES_MAX, Math.max(needed, this.bytes.length * 2));
    // `transfer` frees the old array at once; until a collection it would take as much memory again.
    this.bytes = new Uint8Array(this.bytes.buffer.transfer(length));
  }

  /** Writes a text behind the last one without advancing `length`. @returns the end of its bytes */
  write(text: string): number {
    // UTF-8 has at most three bytes for each code unit.
    this.reserve(text.length * 3);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return length + encoder.encodeInto(text, bytes.subarray(length)).written;
      bytes[length + i] = unit;
    }
    return length + text.length;
  }

  append(text: string): void {
    this.length = this.write(text);
  }

  /** Writes bytes behind the last text without advancing `length`. @param bytes well-formed UTF-8 @returns their end */
  writeBytes(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    this.reserve(length);
    if (length > COPIED_ALONE_MAX) this.bytes.set(bytes.subarray(start, end), this.length);
    else for (let i = 0; i < length; i++) this.bytes[this.length + i] = bytes[start + i]!;
    return this.length + length;
  }

  appendBytes(bytes: Uint8Array, start: number, end: number): void {
    this.length = this.writeBytes(bytes, start, end);
  }
}

export class TextTable {
  readonly #text = new TextBytes();
  /** End of each text in the bytes; a text starts where the one before it ends. */
  #ends = new Uint32Array(64);
  #hashes = new Uint32Array(64);
  /** Number of a text + 1; 0 = free. The length is a power of two; at most half are used. */
  #slots = new Uint32Array(128);
  #size = 0;

  /** Distinct texts so far; the next new one gets this number. */
  get size(): number {
    return this.#size;
  }

  get bytes(): Uint8Array {
    return this.#text.bytes;
  }

  /** Bytes of all texts together. */
  get byteLength(): number {
    return this.#text.length;
  }

  startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!;
  }

  endOf(number: number): number {
    return this.#ends[number]!;
  }

  textOf(number: number): string {
    return decoder.decode(this.#text.bytes.subarray(this.startOf(number), this.endOf(number)));
  }

  /** The number of a text; adds it when it is new. */
  numberOf(text: string): number {
    return this.#numberOfWritten(this.#text.write(text));
  }

  /** The number of a text by its UTF-8; adds it when it is new. */
  numberOfBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#numberOfWritten(this.#text.writeBytes(bytes, start, end));
  }

  /** @param end of the text that was written behind the last one */
  #numberOfWritten(end: number): number {
    const start = this.#text.length;
    const hash = hashOf(this.#text.bytes, start, end);
    const slot = this.#slotOf(hash, start, end);
    if (this.#slots[slot] !== 0) return this.#slots[slot]! - 1;
    const number = this.#size++;
    if (number === this.#ends.length) this.#grow();
    this.#text.length = end;
    this.#ends[number] = end;
    this.#hashes[number] = hash;
    if (this.#size * 2 > this.#slots.length) this.#growSlots();
    else this.#slots[slot] = number + 1;
    return number;
  }

  /** The number of a text that was added, else undefined. */
  find(text: string): number | undefined {
    const start = this.#text.length;
    const end = this.#text.write(text);
    const slot = this.#slotOf(hashOf(this.#text.bytes, start, end), start, end);
    return this.#slots[slot] === 0 ? undefined : this.#slots[slot]! - 1;
  }

  /** The slot that holds the text at these bytes, or the free one where it belongs. */
  #slotOf(hash: number, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let entry = this.#slots[slot]!; entry !== 0; entry = this.#slots[slot]!) {
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, start, end)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Compares two texts of the table in code-unit order, as a comparator. */
  compare(left: number, right: number): number {
    const { bytes } = this.#text;
    return compareText(bytes, this.startOf(left), this.endOf(left), bytes, this.startOf(right), this.endOf(right));
  }

  #equals(number: number, start: number, end: number): boolean {
    const bytes = this.#text.bytes;
    const from = this.startOf(number);
    if (this.endOf(number) - from !== end - start) return false;
    for (let i = start; i < end; i++) if (bytes[i] !== bytes[from + i - start]) return false;
    return true;
  }

  #grow(): void {
    this.#ends = grown(this.#ends);
    this.#hashes = grown(this.#hashes);
  }

  #growSlots(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#hashes[number]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

/** FNV-1a over the bytes, mixed once more because the low bits choose the slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
