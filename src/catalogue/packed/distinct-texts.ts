/**
 * The distinct descriptions of a build, numbered by first appearance. The texts lie in a spill; in memory a text costs
 * 24 bytes and 8 to 16 for its slot in an open-addressed hash table. Two texts count as the same when 96 bits of their
 * SHA-256 are equal, so nothing is read back to compare and no input can make the table slow. A text that its source
 * stores under that digest need not be handed over: it is read from there when it is packed.
 */
import { Buffer } from 'node:buffer';
import { sha256 } from '../../base/digest.ts';
import { grown } from '../snapshot/column-arrays.ts';
import type { Spill } from './spill.ts';

export const DIGEST_WORDS = 3;

/** 96 bits of a text's SHA-256. */
export type TextDigest = Uint32Array<ArrayBuffer>;

/** Texts that need not be handed over, because their source stores them. */
export interface StoredTexts {
  /** @param number of the text in the build @returns UTF-8, valid until the next call; throws its own errors */
  read(digest: TextDigest, number: number): Uint8Array;
}

/** Three words from the 16 base64url digits under which a catalogue stores a description. */
export function digestOfKey(key: string): TextDigest {
  const digest = new Uint32Array(DIGEST_WORDS);
  Buffer.from(digest.buffer).write(key, 'base64url');
  return digest;
}

export const keyOfDigest = ({ buffer, byteOffset, byteLength }: TextDigest): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64url');

/** Stands for a text's start in the spill: its source has the text. */
const STORED = -1;

const encoder = new TextEncoder();

export class DistinctTexts {
  readonly #spill: Spill;
  #starts = new Float64Array(64);
  #lengths = new Uint32Array(64);
  #digests = new Uint32Array(64 * DIGEST_WORDS);
  /** Number of a text + 1; 0 = free. The length is a power of two; at most half are used. */
  #slots = new Uint32Array(128);
  #size = 0;
  readonly #stored: StoredTexts | undefined;

  constructor(spill: Spill, stored: StoredTexts | undefined) {
    this.#spill = spill;
    this.#stored = stored;
  }

  get size(): number {
    return this.#size;
  }

  /** The number of a text; adds it when it is new. @throws SnapshotError when the spill has no room */
  numberOf(text: string): number {
    const digest = new Uint32Array(sha256(text).buffer, 0, DIGEST_WORDS);
    const slot = this.#slotOf(digest, 0);
    const entry = this.#slots[slot]!;
    if (entry !== 0) return entry - 1;
    const bytes = encoder.encode(text);
    return this.#add(slot, digest, this.#spill.append(bytes), bytes.length);
  }

  /**
   * The number of a text that its source stores. @param digests three words from `at` on @param byteLength of its UTF-8
   */
  numberOfStored(digests: Uint32Array, at: number, byteLength: number): number {
    const slot = this.#slotOf(digests, at);
    const entry = this.#slots[slot]!;
    return entry === 0 ? this.#add(slot, digests, STORED, byteLength, at) : entry - 1;
  }

  /** UTF-8; valid until the spill or the source is read or written next. */
  bytesOf(number: number): Uint8Array {
    const start = this.#starts[number]!;
    if (start !== STORED) return this.#spill.read(start, this.#lengths[number]!);
    return this.#stored!.read(this.digestOf(number), number);
  }

  /** Bytes of its UTF-8. */
  lengthOf(number: number): number {
    return this.#lengths[number]!;
  }

  /** Three words; a view. */
  digestOf(number: number): TextDigest {
    return this.#digests.subarray(number * DIGEST_WORDS, (number + 1) * DIGEST_WORDS);
  }

  #add(slot: number, digests: Uint32Array, start: number, length: number, at = 0): number {
    const number = this.#size++;
    if (number === this.#starts.length) this.#grow();
    this.#starts[number] = start;
    this.#lengths[number] = length;
    for (let i = 0; i < DIGEST_WORDS; i++) this.#digests[number * DIGEST_WORDS + i] = digests[at + i]!;
    this.#slots[slot] = number + 1;
    if (this.#size * 2 > this.#slots.length) this.#growSlots();
    return number;
  }

  /** The slot that holds the digest at `at`, or the free one where it belongs. */
  #slotOf(digests: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1;
    let slot = digests[at]! & mask;
    for (let entry = this.#slots[slot]!; entry !== 0; entry = this.#slots[slot]!) {
      const other = (entry - 1) * DIGEST_WORDS;
      const isSame =
        this.#digests[other] === digests[at] &&
        this.#digests[other + 1] === digests[at + 1] &&
        this.#digests[other + 2] === digests[at + 2];
      if (isSame) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    this.#starts = grown(this.#starts);
    this.#lengths = grown(this.#lengths);
    this.#digests = grown(this.#digests);
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 0; number < this.#size; number++) {
      this.#slots[this.#slotOf(this.#digests, number * DIGEST_WORDS)] = number + 1;
    }
  }
}
