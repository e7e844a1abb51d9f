/**
 * Texts in compressed blocks, which stay in the snapshot's file. A text is read with its block: one read each for its place,
 * for the block's ends and for the block. The last few blocks stay decompressed, because questions ask for neighbours together.
 *
 * The place of item i are three elements from 3i on: its block, where its UTF-8 starts in the block's text, and twice its
 * length in bytes, plus 1 for a flag. Length 0 means that the item has no text; then all three are 0.
 */
import type { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { CACHED_BLOCKS_MAX, PACKED_BLOCK_BYTES_MAX } from '../limits.ts';
import type { Section } from '../snapshot/layout.ts';
import { float64At, uint32At } from '../snapshot/numbers-at.ts';
import { SnapshotChangedError } from '../snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../snapshot/source.ts';
import { PLACE_ELEMENTS } from './packed-blocks.ts';
import { runsOf } from './runs.ts';
import { decompressed } from './zstd.ts';

export interface PackedText {
  readonly text: string;
  readonly isFlagged: boolean;
}

export interface PackedSections {
  /** Empty when no item has a text. */
  readonly places: Section;
  readonly blockOffsets: Section;
  readonly blocks: Section;
}

const PLACE_BYTES = PLACE_ELEMENTS * 4;

export class PackedTexts {
  readonly #source: SnapshotSource;
  readonly #sections: PackedSections;
  readonly #blocks = new LRUCache<number, Buffer>({ max: CACHED_BLOCKS_MAX });

  /** Sections of a source that `checkingPacked` lets pass. */
  constructor(source: SnapshotSource, sections: PackedSections) {
    this.#source = source;
    this.#sections = sections;
  }

  /** Bytes of the compressed blocks. */
  get byteLength(): number {
    return this.#sections.blocks.byteLength;
  }

  /** @returns null when the item has no text @throws SnapshotChangedError when the file changed after it was opened */
  at(item: number): PackedText | null {
    return this.allAt([item])[0]!;
  }

  /** The texts of some items, in their order. The places of neighbours are read together. Errors as `at`. */
  allAt(items: readonly number[]): (PackedText | null)[] {
    const { places } = this.#sections;
    if (places.byteLength === 0) return items.map(() => null);
    const texts: (PackedText | null)[] = [];
    for (const { count, first } of runsOf(items)) {
      const bytes = this.#read(places.offset + first * PLACE_BYTES, count * PLACE_BYTES);
      for (let at = 0; at < bytes.length; at += PLACE_BYTES) texts.push(this.#textAtPlace(bytes, at));
    }
    // Checked afterwards, so that a write before or between the reads is noticed.
    if (!this.#source.isUnchanged()) throw this.#changed();
    return texts;
  }

  #textAtPlace(place: Uint8Array, at: number): PackedText | null {
    const lengthAndFlag = uint32At(place, at + 8);
    if (lengthAndFlag === 0) return null;
    const text = this.#textAt(uint32At(place, at), uint32At(place, at + 4), lengthAndFlag >>> 1);
    return { text, isFlagged: (lengthAndFlag & 1) === 1 };
  }

  #textAt(block: number, start: number, length: number): string {
    const bytes = this.#blocks.get(block) ?? this.#readBlock(block);
    if (start + length > bytes.length) throw this.#changed();
    return bytes.toString('utf8', start, start + length);
  }

  #readBlock(block: number): Buffer {
    const { blockOffsets, blocks } = this.#sections;
    if ((block + 2) * 8 > blockOffsets.byteLength) throw this.#changed();
    const ends = this.#read(blockOffsets.offset + block * 8, 16);
    const start = float64At(ends, 0);
    const end = float64At(ends, 8);
    // Written so that NaN, for which no comparison holds, is refused.
    if (!(start >= 0 && start < end && end <= blocks.byteLength)) throw this.#changed();
    const bytes = decompressed(this.#read(blocks.offset + start, end - start), PACKED_BLOCK_BYTES_MAX);
    if (bytes === undefined) throw this.#changed();
    this.#blocks.set(block, bytes);
    return bytes;
  }

  #read(offset: number, length: number): Uint8Array {
    const bytes = this.#source.read(offset, length);
    if (bytes.length !== length) throw this.#changed();
    return bytes;
  }

  #changed(): SnapshotChangedError {
    return new SnapshotChangedError(`${this.#source.name}: the file changed while it was in use`);
  }
}
