/** Writes the sets of an index chunk by chunk, in the form that sections.ts describes. */
import { grown } from '../snapshot/column-arrays.ts';
import { CHUNK_WORDS, LISTED_ROWS } from './sections.ts';

export class SetWriter {
  readonly #chunkCount: number;
  readonly #chunks: Uint32Array<ArrayBuffer>;
  #lists = new Uint16Array(1024);
  #listLength = 0;
  #bitmaps = new Uint32Array(CHUNK_WORDS);
  #bitmapCount = 0;

  constructor(setCount: number, chunkCount: number) {
    this.#chunkCount = chunkCount;
    this.#chunks = new Uint32Array(setCount * chunkCount * 2);
  }

  /** Places for `count` members of a set in a chunk: a list when they are few. @returns where they start in `lists` */
  addList(set: number, chunk: number, count: number): number {
    const start = this.#listLength;
    while (start + count > this.#lists.length) {
      this.#lists = grown(this.#lists);
    }
    this.#listLength += count;
    this.#place(set, chunk, count, start);
    return start;
  }

  /** A bitmap for a set with at least LISTED_ROWS members in a chunk. @returns the index of its first word in `bitmaps` */
  addBitmap(set: number, chunk: number, count: number): number {
    const start = this.#bitmapCount * CHUNK_WORDS;
    if (start === this.#bitmaps.length) {
      this.#bitmaps = grown(this.#bitmaps);
    }
    this.#place(set, chunk, count, this.#bitmapCount++);
    return start;
  }

  /** The members of a chunk whose bits are set in `words`, in the form that takes less. */
  addWords(set: number, chunk: number, words: Uint32Array, count: number): void {
    if (count >= LISTED_ROWS) {
      const start = this.addBitmap(set, chunk, count);
      this.#bitmaps.set(words, start);
      return;
    }
    let place = this.addList(set, chunk, count);
    for (let i = 0; i < CHUNK_WORDS; i++) {
      for (let word = words[i]!; word !== 0; word &= word - 1) {
        this.#lists[place++] = i * 32 + 31 - Math.clz32(word & -word);
      }
    }
  }

  /** Valid until the next list or bitmap is added. */
  get lists(): Uint16Array<ArrayBuffer> {
    return this.#lists;
  }

  get bitmaps(): Uint32Array<ArrayBuffer> {
    return this.#bitmaps;
  }

  /** The three sections; nothing may be added afterwards. */
  finish() {
    return {
      setChunks: this.#chunks,
      setLists: this.#lists.subarray(0, this.#listLength),
      setBitmaps: this.#bitmaps.subarray(0, this.#bitmapCount * CHUNK_WORDS),
    };
  }

  #place(set: number, chunk: number, count: number, start: number): void {
    const entry = (set * this.#chunkCount + chunk) * 2;
    this.#chunks[entry] = count;
    this.#chunks[entry + 1] = count === 0 ? 0 : start;
  }
}
