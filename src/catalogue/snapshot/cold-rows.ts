/**
 * Ids and source URLs, which stay in the snapshot's file: read for the few rows of an answer, or kept in memory for the
 * newest rows. Opening checks their bytes a chunk at a time and keeps nothing.
 */
import { Buffer, isAscii } from 'node:buffer';
import { requireChecked } from './cold-sections.ts';
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

/** Cold rows in memory: the rows below `count`. */
export interface LoadedColdRows {
  readonly count: number;
  rowAt(row: number): ColdRow;
  /** The same row, its texts cut out of a long one where possible (see `TextColumn.pieceOf`). */
  pieceAt(row: number): ColdRow;
}

/** Rows that lie no farther apart are read together: about 3 KB more take less time than another two reads. */
const JOINED_ROWS = 32;

export class ColdRows {
  readonly #source: SnapshotSource;
  /** Bytes in the file. */
  readonly #offsetsStart: number;
  readonly #textStart: number;
  readonly #textLength: number;

  /** The cold sections of a source that `checkCold` let pass. */
  constructor(source: SnapshotSource, { sections: { coldOffsets, coldText } }: OpenedHeader) {
    this.#source = source;
    this.#offsetsStart = coldOffsets.offset;
    this.#textStart = coldText.offset;
    this.#textLength = coldText.byteLength;
  }

  /**
   * The given rows, in their order: two reads for rows that lie close together, and one check of the file. Meant for the rows of
   * an answer.
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  rowsAt(rows: ArrayLike<number>): ColdRow[] {
    const ascending = Uint32Array.from(rows).sort();
    const found = new Map<number, ColdRow>();
    for (let start = 0, end = 1; start < ascending.length; start = end, end++) {
      while (end < ascending.length && ascending[end]! - ascending[end - 1]! <= JOINED_ROWS) end++;
      this.#readAmong(ascending.subarray(start, end), found);
    }
    // Checked afterwards: a write before or between the reads shows by now.
    this.requireUnchanged();
    return Array.from(rows, (row) => found.get(row)!);
  }

  /** Reads what lies from the first to the last of some ascending rows. */
  #readAmong(rows: Uint32Array, found: Map<number, ColdRow>): void {
    const first = rows[0]!;
    const rowCount = rows.at(-1)! - first + 1;
    const offsets = uint32sIn(this.#read(this.#offsetsStart + first * 8, rowCount * 8 + 4));
    const start = offsets[0]!;
    for (let i = 1; i < offsets.length; i++) if (offsets[i]! < offsets[i - 1]!) throw this.changed();
    const end = offsets[rowCount * 2]!;
    if (end > this.#textLength) throw this.changed();
    const text = this.#read(this.#textStart + start, end - start);
    for (const row of rows) {
      const at = (row - first) * 2;
      const urlStart = offsets[at + 1]! - start;
      found.set(row, {
        id: textIn(text, offsets[at]! - start, urlStart),
        sourceUrl: textIn(text, urlStart, offsets[at + 2]! - start),
      });
    }
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

  /** @throws SnapshotChangedError when the file changed after it was opened */
  requireUnchanged(): void {
    if (!this.#source.isUnchanged()) throw this.changed();
  }

  /**
   * The texts of the first `count` rows, in two reads.
   * @returns `undefined` when they are longer than `bytesMax` together
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  readFirst(count: number, bytesMax: number): ColdTexts | undefined {
    const offsets = uint32sIn(this.#read(this.#offsetsStart, (count * 2 + 1) * 4));
    for (let i = 1; i < offsets.length; i++) if (offsets[i]! < offsets[i - 1]!) throw this.changed();
    const length = offsets[count * 2]!;
    if (offsets[0] !== 0 || length > this.#textLength) throw this.changed();
    if (length > bytesMax) return undefined;
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

  /** The error of a file that is not as it was when it was opened. */
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
  if (!isAscii(texts)) return { count, rowAt, pieceAt: rowAt };
  const units = texts.toString('latin1');
  const pieceAt = (row: number): ColdRow => ({
    id: units.slice(offsets[row * 2]!, offsets[row * 2 + 1]!),
    sourceUrl: units.slice(offsets[row * 2 + 1]!, offsets[row * 2 + 2]!),
  });
  return { count, rowAt, pieceAt };
}

/** UTF-8 text; as in text-column.ts, faster than a TextDecoder. */
function textIn(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end);
}

/** @throws SnapshotError when a byte or an offset of the ids and source URLs is wrong */
export function checkCold(source: SnapshotSource, { header, sections }: OpenedHeader, refuse: Refuse): void {
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
  requireChecked(source, offsets, requireAscending, refuse);
  if (before !== text.byteLength) throw refuse('has wrong ends in coldOffsets');
  requireChecked(source, text, () => {}, refuse);
}
