/**
 * Texts into compressed blocks: as many whole texts as fit into a block, in the order in which they are put, so that texts
 * that resemble each other should come one after the other. The compressed blocks go to the spill at once.
 */
import { CHECKED_CHUNK_BYTES, PACKED_BLOCK_BYTES } from '../limits.ts';
import { checksumOf } from '../snapshot/layout.ts';
import type { Spill } from './spill.ts';
import { compressed } from './zstd.ts';

/** Elements of an item's place: its block, where it starts in the block's text, and its length (`packed-texts.ts`). */
export const PLACE_ELEMENTS = 3;

/** The blocks of one kind of texts as sections of a snapshot. */
export interface PackedBlocks {
  /** Where each block starts in `chunks`, and where the last one ends. */
  readonly offsets: Float64Array<ArrayBuffer>;
  readonly byteLength: number;
  /** CRC-32 of the compressed bytes. */
  readonly checksum: number;
  /** CRC-32 of the texts, block after block: it does not depend on the release of the compressor. */
  readonly contentChecksum: number;
  /** Fresh arrays; may be iterated more than once, until the spill is closed. */
  readonly chunks: Iterable<Uint8Array>;
}

export class TextPacker {
  readonly #spill: Spill;
  readonly #blockBytes: number;
  #text = new Uint8Array(2 ** 18);
  #filled = 0;
  readonly #offsets = [0];
  /** In the spill. */
  #start = -1;
  #checksum = 0;
  #contentChecksum = 0;

  /** @param spill nothing else may be appended to it before `finish` */
  constructor(spill: Spill, blockBytes = PACKED_BLOCK_BYTES) {
    this.#spill = spill;
    this.#blockBytes = blockBytes;
  }

  /** Adds a text, and writes its place. @param bytes UTF-8, copied @param place first element of `places` */
  put(bytes: Uint8Array, places: Uint32Array, place: number, isFlagged: boolean): void {
    const { length } = bytes;
    let start = this.#filled;
    let end = start + length;
    if (end > this.#text.length) this.#text = new Uint8Array(this.#text.buffer.transfer(end));
    // Copied first, because ending a block appends to the spill, and the bytes may be from there.
    this.#text.set(bytes, start);
    if (start > 0 && end > this.#blockBytes) {
      this.#endBlock();
      this.#text.copyWithin(0, start, end);
      start = 0;
      end = length;
    }
    this.#filled = end;
    places[place] = this.#offsets.length - 1;
    places[place + 1] = start;
    places[place + 2] = length * 2 + Number(isFlagged);
  }

  /** Call it once, after the last text. */
  finish(): PackedBlocks {
    if (this.#filled > 0) this.#endBlock();
    const spill = this.#spill;
    const start = this.#start;
    const byteLength = this.#offsets.at(-1)!;
    return {
      offsets: Float64Array.from(this.#offsets),
      byteLength,
      checksum: this.#checksum,
      contentChecksum: this.#contentChecksum,
      chunks: {
        *[Symbol.iterator]() {
          for (let done = 0; done < byteLength; done += CHECKED_CHUNK_BYTES) {
            yield Uint8Array.from(spill.read(start + done, Math.min(CHECKED_CHUNK_BYTES, byteLength - done)));
          }
        },
      },
    };
  }

  #endBlock(): void {
    const text = this.#text.subarray(0, this.#filled);
    this.#filled = 0;
    this.#contentChecksum = checksumOf(text, this.#contentChecksum);
    const block = compressed(text);
    this.#checksum = checksumOf(block, this.#checksum);
    const at = this.#spill.append(block);
    if (this.#start === -1) this.#start = at;
    this.#offsets.push(this.#offsets.at(-1)! + block.length);
  }
}
