/**
 * Packs descriptions into compressed blocks. The texts themselves decide where blocks end (content-defined chunking), so that a
 * change moves the ends of a few blocks and not of all later ones: a block that is three quarters full ends before a text whose
 * digest says so, and any block before a text that would make it too long. A block that an earlier snapshot has is copied from
 * there, without reading or compressing its texts; as the compressor is deterministic, the result is the same byte for byte.
 */
import { hash } from 'node:crypto';
import { CHECKED_CHUNK_BYTES, PACKED_BLOCK_BYTES } from '../limits.ts';
import { checksumOf } from '../snapshot/layout.ts';
import { combinedChecksum } from './combined-checksum.ts';
import { DIGEST_WORDS, type DistinctTexts } from './distinct-texts.ts';
import type { PackedBlocks } from './packed-blocks.ts';
import type { Spill } from './spill.ts';
import { compressed } from './zstd.ts';

/** The facts by which the next build finds a block again. */
export interface BlockFacts {
  /** 16 digits: a digest of the digests of its texts, in order. */
  readonly id: string;
  /** Compressed. */
  readonly byteLength: number;
  readonly textBytes: number;
  /** CRC-32 of the compressed bytes, and of the text. */
  readonly checksum: number;
  readonly contentChecksum: number;
}

/** The blocks of an earlier snapshot of the same compressor. */
export interface EarlierBlocks {
  find(id: string): BlockFacts | undefined;
  /** The compressed bytes of a block that `find` gave, valid until the next call. @throws SnapshotError when they are damaged */
  read(id: string): Uint8Array;
}

/**
 * Mask of the digest bits that end a block at least three quarters full: one text in four, so that most blocks end this way.
 */
const ENDING_MASK = 3;
const ENDING_SHARE = 0.75;

/** Stands for a start in the spill: the earlier snapshot has the block. */
const EARLIER = -1;

export class BlockPacker {
  readonly #spill: Spill;
  readonly #texts: DistinctTexts;
  readonly #earlier: EarlierBlocks | undefined;
  readonly #blockBytes: number;
  /** Texts of the block in progress. */
  #numbers: number[] = [];
  #filled = 0;
  readonly #facts: BlockFacts[] = [];
  readonly #offsets = [0];
  /** By block: its start in the spill, or EARLIER. */
  readonly #starts: number[] = [];
  #checksum = 0;
  #contentChecksum = 0;

  constructor(spill: Spill, texts: DistinctTexts, earlier: EarlierBlocks | undefined, blockBytes = PACKED_BLOCK_BYTES) {
    this.#spill = spill;
    this.#texts = texts;
    this.#earlier = earlier;
    this.#blockBytes = blockBytes;
  }

  /** Adds a text by its number, and writes its place. @param place first element of `places` */
  put(number: number, places: Uint32Array, place: number, isFlagged: boolean): void {
    const length = this.#texts.lengthOf(number);
    const isEnding =
      this.#filled >= this.#blockBytes * ENDING_SHARE && (this.#texts.digestOf(number)[0]! & ENDING_MASK) === 0;
    if (this.#filled > 0 && (isEnding || this.#filled + length > this.#blockBytes)) this.#endBlock();
    places[place] = this.#offsets.length - 1;
    places[place + 1] = this.#filled;
    places[place + 2] = length * 2 + Number(isFlagged);
    this.#numbers.push(number);
    this.#filled += length;
  }

  /** Call it once, after the last text. */
  finish(): { readonly blocks: PackedBlocks; readonly facts: readonly BlockFacts[] } {
    if (this.#filled > 0) this.#endBlock();
    const blocks: PackedBlocks = {
      offsets: Float64Array.from(this.#offsets),
      byteLength: this.#offsets.at(-1)!,
      checksum: this.#checksum,
      contentChecksum: this.#contentChecksum,
      chunks: { [Symbol.iterator]: () => this.#chunks() },
    };
    return { blocks, facts: this.#facts };
  }

  /** About a mebibyte at a time, because each chunk costs one write. */
  *#chunks(): Generator<Uint8Array, void, void> {
    let chunk = new Uint8Array(CHECKED_CHUNK_BYTES);
    let filled = 0;
    for (let block = 0; block < this.#facts.length; block++) {
      const bytes = this.#bytesOf(block);
      if (filled + bytes.length > chunk.length) {
        if (filled > 0) yield chunk.subarray(0, filled);
        chunk = new Uint8Array(Math.max(CHECKED_CHUNK_BYTES, bytes.length));
        filled = 0;
      }
      chunk.set(bytes, filled);
      filled += bytes.length;
    }
    if (filled > 0) yield chunk.subarray(0, filled);
  }

  #bytesOf(block: number): Uint8Array {
    const { byteLength, id } = this.#facts[block]!;
    const start = this.#starts[block]!;
    return start === EARLIER ? this.#earlier!.read(id) : this.#spill.read(start, byteLength);
  }

  #endBlock(): void {
    const id = this.#id();
    const known = this.#earlier?.find(id);
    const facts = known ?? this.#pack(id);
    if (known !== undefined) this.#starts.push(EARLIER);
    this.#checksum = combinedChecksum(this.#checksum, facts.checksum, facts.byteLength);
    this.#contentChecksum = combinedChecksum(this.#contentChecksum, facts.contentChecksum, facts.textBytes);
    this.#facts.push(facts);
    this.#offsets.push(this.#offsets.at(-1)! + facts.byteLength);
    this.#numbers = [];
    this.#filled = 0;
  }

  #id(): string {
    const digests = new Uint32Array(this.#numbers.length * DIGEST_WORDS);
    for (const [i, number] of this.#numbers.entries()) digests.set(this.#texts.digestOf(number), i * DIGEST_WORDS);
    return hash('sha256', digests, 'base64url').slice(0, 16);
  }

  #pack(id: string): BlockFacts {
    const text = new Uint8Array(this.#filled);
    let end = 0;
    for (const number of this.#numbers) {
      text.set(this.#texts.bytesOf(number), end);
      end += this.#texts.lengthOf(number);
    }
    const bytes = compressed(text);
    this.#starts.push(this.#spill.append(bytes));
    const checksums = { checksum: checksumOf(bytes), contentChecksum: checksumOf(text) };
    return { id, byteLength: bytes.length, textBytes: text.length, ...checksums };
  }
}
