/**
 * Descriptions into compressed blocks. Which texts share a block follows from the texts themselves, so that a change moves the
 * ends of a few blocks and not of all behind it: a block ends before a text whose digest says so once it is three quarters full,
 * and where it would become too long. A block that an earlier snapshot has is copied from there, neither read nor compressed
 * again; as the compressor is deterministic, the result is the same byte by byte.
 */
import { hash } from 'node:crypto';
import { CHECKED_CHUNK_BYTES, PACKED_BLOCK_BYTES } from '../limits.ts';
import { checksumOf } from '../snapshot/layout.ts';
import { combinedChecksum } from './combined-checksum.ts';
import type { DistinctTexts } from './distinct-texts.ts';
import type { Spill } from './spill.ts';
import type { PackedBlocks } from './text-packer.ts';
import { compressed } from './zstd.ts';

/** A block, as the next build may find it again. */
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
  /** @returns undefined when there is none, or its bytes are not what was written; bytes are valid until the next call */
  find(id: string): (BlockFacts & { readonly bytes: Uint8Array }) | undefined;
}

/** Texts whose digest ends a block that is at least three quarters full: one in four, so that most blocks end by it. */
const ENDING_MASK = 3;
const ENDING_SHARE = 0.75;

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
  /** In the spill. */
  #start = -1;
  #checksum = 0;
  #contentChecksum = 0;

  /** @param spill nothing else may be appended to it before `finish` */
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
    const spill = this.#spill;
    const start = this.#start;
    const byteLength = this.#offsets.at(-1)!;
    const blocks: PackedBlocks = {
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
    return { blocks, facts: this.#facts };
  }

  #endBlock(): void {
    const id = this.#id();
    const { bytes, ...facts } = this.#earlier?.find(id) ?? this.#packed(id);
    this.#checksum = combinedChecksum(this.#checksum, facts.checksum, facts.byteLength);
    this.#contentChecksum = combinedChecksum(this.#contentChecksum, facts.contentChecksum, facts.textBytes);
    const at = this.#spill.append(bytes);
    if (this.#start === -1) this.#start = at;
    this.#facts.push(facts);
    this.#offsets.push(this.#offsets.at(-1)! + facts.byteLength);
    this.#numbers = [];
    this.#filled = 0;
  }

  #id(): string {
    const digests = new Uint8Array(this.#numbers.length * 12);
    for (const [i, number] of this.#numbers.entries()) {
      const { buffer, byteOffset, byteLength } = this.#texts.digestOf(number);
      digests.set(new Uint8Array(buffer, byteOffset, byteLength), i * 12);
    }
    return hash('sha256', digests, 'base64url').slice(0, 16);
  }

  #packed(id: string): BlockFacts & { readonly bytes: Uint8Array } {
    const text = new Uint8Array(this.#filled);
    let end = 0;
    for (const number of this.#numbers) {
      text.set(this.#texts.bytesOf(number), end);
      end += this.#texts.lengthOf(number);
    }
    const bytes = compressed(text);
    const checksums = { checksum: checksumOf(bytes), contentChecksum: checksumOf(text) };
    return { id, bytes, byteLength: bytes.length, textBytes: text.length, ...checksums };
  }
}
