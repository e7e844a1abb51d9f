/** The sets of rows of the whole index, as views of the snapshot's bytes (sections.ts). */
import { CHUNK_ROWS, CHUNK_WORDS, chunkCountOf, LISTED_ROWS } from './sections.ts';

export class RowSets {
  readonly chunkCount: number;
  readonly lists: Uint16Array;
  readonly bitmaps: Int32Array;
  readonly #chunks: Uint32Array;

  constructor(rowCount: number, chunks: Uint32Array, lists: Uint16Array, bitmaps: Uint32Array) {
    this.chunkCount = chunkCountOf(rowCount);
    this.#chunks = chunks;
    this.lists = lists;
    // Signed, like the results of bitwise operators.
    this.bitmaps = new Int32Array(bitmaps.buffer, bitmaps.byteOffset, bitmaps.length);
  }

  /** Members of a set in a chunk; with LISTED_ROWS or more of them it has a bitmap. */
  countIn(set: number, chunk: number): number {
    return this.#chunks[(set * this.chunkCount + chunk) * 2]!;
  }

  /** Where in `lists` its members start, or in `bitmaps` its words. */
  placeIn(set: number, chunk: number): number {
    const entry = (set * this.chunkCount + chunk) * 2;
    const place = this.#chunks[entry + 1]!;
    return this.#chunks[entry]! < LISTED_ROWS ? place : place * CHUNK_WORDS;
  }

  /** Members of a set in all chunks. */
  countOf(set: number): number {
    let count = 0;
    for (let chunk = 0; chunk < this.chunkCount; chunk++) count += this.countIn(set, chunk);
    return count;
  }

  /** Checks that every member is a row, so that no question reads outside an array. @returns what is wrong */
  fault(setCount: number, rowCount: number): string | undefined {
    const { bitmaps, chunkCount, lists } = this;
    const chunks = this.#chunks;
    if (chunks.length !== setCount * chunkCount * 2) return `has ${chunks.length} elements in setChunks`;
    const bitmapCount = bitmaps.length / CHUNK_WORDS;
    if (!Number.isInteger(bitmapCount)) return `has ${bitmaps.length} elements in setBitmaps`;
    const rowsInLast = rowCount - (chunkCount - 1) * CHUNK_ROWS;
    for (let set = 0; set < setCount; set++) {
      for (let chunk = 0; chunk < chunkCount; chunk++) {
        const entry = (set * chunkCount + chunk) * 2;
        const count = chunks[entry]!;
        const place = chunks[entry + 1]!;
        const isLast = chunk === chunkCount - 1;
        if (count > (isLast ? rowsInLast : CHUNK_ROWS)) return 'has a set of more rows than there are in setChunks';
        if (count < LISTED_ROWS) {
          if (place + count > lists.length) return 'has a set outside the lists in setChunks';
          for (let i = place; isLast && i < place + count; i++) {
            if (lists[i]! >= rowsInLast) return 'has a row past the last in setLists';
          }
          continue;
        }
        if (place >= bitmapCount) return 'has a set outside the bitmaps in setChunks';
        if (isLast && !isClearFrom(bitmaps, place * CHUNK_WORDS, rowsInLast))
          return 'has a row past the last in setBitmaps';
      }
    }
    return undefined;
  }
}

/** Whether a bitmap has no member from `first` on. @param start of its words */
function isClearFrom(bitmaps: Int32Array, start: number, first: number): boolean {
  if (first === CHUNK_ROWS) return true;
  const word = first >>> 5;
  let any = bitmaps[start + word]! & (-1 << (first & 31));
  for (let i = word + 1; i < CHUNK_WORDS; i++) any |= bitmaps[start + i]!;
  return any === 0;
}
