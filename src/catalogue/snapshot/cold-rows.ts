/**
 * Ids and source URLs, which stay in the snapshot's file: read for the few rows of an answer, or loaded into memory for
 * the newest rows. Opening checks their bytes chunk by chunk and keeps nothing.
 */
import { Buffer, isAscii } from 'node:buffer';
import { firstWhere } from '../../base/first-where.ts';
import { LOADED_TEXT_BYTES_MAX } from '../limits.ts';
import { checkedSection } from './cold-sections.ts';
import type { OpenedHeader } from './header.ts';
import { uint32At, uint32sIn } from './numbers-at.ts';
import { type Refuse, SnapshotChangedError } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';
import { compareText } from './text-order.ts';

export interface ColdRow {
  readonly id: string;
  readonly sourceUrl: string;
}

/** The texts of the rows below `count`. */
export interface ColdTexts {
  readonly count: number;
  /** As in the file: the id of row r starts at element 2r, its source URL at 2r + 1 and ends at 2r + 2. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** The texts of some rows, in their order. */
export interface RowTexts {
  readonly bytes: Buffer;
  /** Three elements a row: where its id starts in the bytes, where its source URL starts, and where that ends. */
  readonly places: Uint32Array;
}

/** Cold rows in memory: the rows below `count`. */
export interface LoadedColdRows {
  readonly count: number;
  /** The texts of rows below `count`. */
  textsAt(rows: ArrayLike<number>): RowTexts;
  rowAt(row: number): ColdRow;
  /** The same row, with texts cut out of a long string where possible (see `TextColumn.pieceOf`). */
  pieceAt(row: number): ColdRow;
}

// A read from the page cache takes 1.5 µs plus 0.06 for each KiB, so gaps between two rows are read too, up to:
/** Rows in a gap between offsets that are read together. */
const OFFSET_GAP_ROWS = 512;
/** Bytes in a gap between texts that are read together. */
const TEXT_GAP_BYTES = 2 ** 14;
/** Elements of `RowTexts.places` a row. */
const PLACES = 3;

export class ColdRows {
  readonly #source: SnapshotSource;
  /** Bytes in the file. */
  readonly #offsetsStart: number;
  readonly #textStart: number;
  readonly #textLength: number;
  /** Buffer for texts that were not read together. */
  #gathered = Buffer.alloc(0);

  /** The cold sections of a source that `checkingCold` lets pass. */
  constructor(source: SnapshotSource, { sections: { coldOffsets, coldText } }: OpenedHeader) {
    this.#source = source;
    this.#offsetsStart = coldOffsets.offset;
    this.#textStart = coldText.offset;
    this.#textLength = coldText.byteLength;
  }

  /**
   * The given rows, in their order. Meant for the rows of an answer.
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  rowsAt(rows: ArrayLike<number>): ColdRow[] {
    const { bytes, places } = this.textsAt(rows);
    return Array.from(rows, (_, i) => ({
      id: textIn(bytes, places[i * PLACES]!, places[i * PLACES + 1]!),
      sourceUrl: textIn(bytes, places[i * PLACES + 1]!, places[i * PLACES + 2]!),
    }));
  }

  /**
   * The same as bytes, valid until the next read of cold rows: two reads for rows that lie close together, and one check of the
   * file. Errors as `rowsAt`.
   */
  textsAt(rows: ArrayLike<number>): RowTexts {
    const texts = isAscending(rows) ? this.#textsOf(rows) : this.#textsOfUnordered(rows);
    // Checked afterwards, so that a write before or between the reads is noticed.
    this.requireUnchanged();
    return texts;
  }

  #textsOfUnordered(rows: ArrayLike<number>): RowTexts {
    const ascending = Uint32Array.from(rows).sort();
    const { bytes, places } = this.#textsOf(ascending);
    const ordered = new Uint32Array(places.length);
    for (let i = 0; i < rows.length; i++) {
      const at = firstWhere(0, ascending.length, (index) => ascending[index]! >= rows[i]!) * PLACES;
      ordered.set(places.subarray(at, at + PLACES), i * PLACES);
    }
    return { bytes, places: ordered };
  }

  /** @param rows ascending; one may come several times */
  #textsOf(rows: ArrayLike<number>): RowTexts {
    const places = this.#placesOf(rows);
    let filled = 0;
    for (let start = 0, end = 1; start < rows.length; start = end, end++) {
      while (end < rows.length && places[end * PLACES]! - places[end * PLACES - 1]! <= TEXT_GAP_BYTES) end++;
      const first = places[start * PLACES]!;
      const bytes = this.#readTransient(this.#textStart + first, places[end * PLACES - 1]! - first);
      const isWhole = start === 0 && end === rows.length;
      for (let i = start * PLACES; i < end * PLACES; i++) places[i]! += filled - first;
      if (isWhole) return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), places };
      this.#gather(bytes, filled);
      filled += bytes.length;
    }
    return { bytes: this.#gathered, places };
  }

  #gather(bytes: Uint8Array, at: number): void {
    if (this.#gathered.length < at + bytes.length) {
      const larger = Buffer.allocUnsafeSlow((at + bytes.length) * 2);
      larger.set(this.#gathered.subarray(0, at));
      this.#gathered = larger;
    }
    this.#gathered.set(bytes, at);
  }

  /** Places of ascending rows in the whole text. */
  #placesOf(rows: ArrayLike<number>): Uint32Array {
    const places = new Uint32Array(rows.length * PLACES);
    for (let start = 0, end = 1; start < rows.length; start = end, end++) {
      while (end < rows.length && rows[end]! - rows[end - 1]! <= OFFSET_GAP_ROWS) end++;
      const first = rows[start]!;
      const offsets = this.#readTransient(this.#offsetsStart + first * 8, (rows[end - 1]! - first) * 8 + 12);
      for (let i = start; i < end; i++) {
        const at = (rows[i]! - first) * 8;
        for (let k = 0; k < PLACES; k++) places[i * PLACES + k] = uint32At(offsets, at + k * 4);
      }
    }
    this.#requireOrder(rows, places);
    return places;
  }

  #requireOrder(rows: ArrayLike<number>, places: Uint32Array): void {
    let before = 0;
    for (let i = 0; i < rows.length; i++) {
      const [start, middle, end] = [places[i * PLACES]!, places[i * PLACES + 1]!, places[i * PLACES + 2]!];
      const isRepeated = i > 0 && rows[i] === rows[i - 1];
      if ((start < before && !isRepeated) || middle < start || end < middle) throw this.changed();
      before = end;
    }
    if (before > this.#textLength) throw this.changed();
  }

  /** @throws SnapshotChangedError when the file changed after it was opened */
  rowAt(row: number): ColdRow {
    return this.rowsAt([row])[0]!;
  }

  /**
   * Compares the id of a row with UTF-8 bytes in code-unit order, as a comparator. Does not look whether the file changed.
   * @throws SnapshotChangedError when it finds that the file changed
   */
  compareIdTo(row: number, bytes: Uint8Array): number {
    const id = this.idBytesOf(row);
    return compareText(id, 0, id.length, bytes, 0, bytes.length);
  }

  /** The id of a row. Does not look whether the file changed. Errors as {@link idBytesOf}. */
  idOf(row: number): string {
    const bytes = this.idBytesOf(row);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  /**
   * UTF-8 of the id of a row, valid until the next call. Does not look whether the file changed.
   * @throws SnapshotChangedError when it finds that the file changed
   */
  idBytesOf(row: number): Uint8Array {
    const offsets = this.#readTransient(this.#offsetsStart + row * 8, 8);
    const start = uint32At(offsets, 0);
    const end = uint32At(offsets, 4);
    if (start > end || end > this.#textLength) throw this.changed();
    return this.#readTransient(this.#textStart + start, end - start);
  }

  /** Whether rows can be read: the file is as it was when it was opened. */
  isUnchanged(): boolean {
    return this.#source.isUnchanged();
  }

  /** @throws SnapshotChangedError when the file changed after it was opened */
  requireUnchanged(): void {
    if (!this.isUnchanged()) throw this.changed();
  }

  /**
   * The texts of the first `count` rows, in two reads.
   * @returns `undefined` when they are too long to be kept in memory
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  readFirst(count: number): ColdTexts | undefined {
    const offsets = uint32sIn(this.#read(this.#offsetsStart, (count * 2 + 1) * 4));
    for (let i = 1; i < offsets.length; i++) if (offsets[i]! < offsets[i - 1]!) throw this.changed();
    const length = offsets[count * 2]!;
    if (offsets[0] !== 0 || length > this.#textLength) throw this.changed();
    if (length > LOADED_TEXT_BYTES_MAX) return undefined;
    const bytes = this.#read(this.#textStart, length);
    this.requireUnchanged();
    return { count, offsets, bytes };
  }

  #readTransient(offset: number, length: number): Uint8Array {
    const bytes = this.#source.readTransient(offset, length);
    if (bytes.length !== length) throw this.changed();
    return bytes;
  }

  #read(offset: number, length: number): Buffer {
    const bytes = this.#source.read(offset, length);
    if (bytes.length !== length) throw this.changed();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** The error for a file that changed after it was opened. */
  changed(): SnapshotChangedError {
    return new SnapshotChangedError(`${this.#source.name}: the file changed while it was in use`);
  }
}

/** Rows over the texts of `readFirst`, which stay in memory. */
export function loadedColdRows({ bytes, count, offsets }: ColdTexts): LoadedColdRows {
  const texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const rowAt = (row: number): ColdRow => ({
    id: textIn(texts, offsets[row * 2]!, offsets[row * 2 + 1]!),
    sourceUrl: textIn(texts, offsets[row * 2 + 1]!, offsets[row * 2 + 2]!),
  });
  const textsAt = (rows: ArrayLike<number>): RowTexts => {
    const places = new Uint32Array(rows.length * PLACES);
    for (let i = 0; i < places.length; i++) places[i] = offsets[rows[Math.floor(i / PLACES)]! * 2 + (i % PLACES)]!;
    return { bytes: texts, places };
  };
  if (!isAscii(texts)) return { count, rowAt, pieceAt: rowAt, textsAt };
  const units = texts.toString('latin1');
  const pieceAt = (row: number): ColdRow => ({
    id: units.slice(offsets[row * 2]!, offsets[row * 2 + 1]!),
    sourceUrl: units.slice(offsets[row * 2 + 1]!, offsets[row * 2 + 2]!),
  });
  return { count, rowAt, pieceAt, textsAt };
}

function isAscending(rows: ArrayLike<number>): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i]! < rows[i - 1]!) return false;
  return true;
}

/** UTF-8 text; as in text-column.ts, faster than a TextDecoder. */
function textIn(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end);
}

/** In steps. @throws SnapshotError when a byte or an offset of the ids and source URLs is wrong */
export function* checkingCold(
  source: SnapshotSource,
  { header, sections }: OpenedHeader,
  refuse: Refuse,
): Generator<void, void> {
  const { coldOffsets: offsets, coldText: text } = sections;
  const rowCount = header.rows;
  if (offsets.byteLength !== (rowCount * 2 + 1) * 4) throw refuse('has a wrong number of elements in coldOffsets');
  let before = 0;
  let isFirst = true;
  const requireAscending = (bytes: Uint8Array): void => {
    const values = uint32sIn(bytes);
    if (isFirst && values[0] !== 0) throw refuse('has coldOffsets out of order');
    isFirst = false;
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (value < before) throw refuse('has coldOffsets out of order');
      before = value;
    }
  };
  yield* checkedSection(source, offsets, requireAscending, refuse);
  if (before !== text.byteLength) throw refuse('has wrong ends in coldOffsets');
  yield* checkedSection(source, text, () => {}, refuse);
}
