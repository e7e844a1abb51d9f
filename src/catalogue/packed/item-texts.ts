/**
 * The texts of a snapshot's items, rows or events, while it is built. Each distinct text goes to the spill once as it
 * arrives, or stays with its source. At the end they are packed in the caller's order, which puts similar texts
 * together and which no observation changes, so that the blocks of an earlier snapshot are found again.
 * Memory: 4 bytes an item, and what `DistinctTexts` keeps of each distinct text.
 */
import { grown } from '../snapshot/column-arrays.ts';
import { type BlockFacts, BlockPacker, type EarlierBlocks } from './block-packer.ts';
import { DIGEST_WORDS, DistinctTexts, digestOfKey, type StoredTexts } from './distinct-texts.ts';
import { type PackedBlocks, PLACE_ELEMENTS } from './packed-blocks.ts';
import type { Spill } from './spill.ts';

const NOT_PLACED = 0xffffffff;

/** A description that its source stores. */
export interface StoredDescription {
  /** 16 digits of base64url: 96 bits of the text's SHA-256. */
  readonly key: string;
  /** Of its UTF-8. */
  readonly byteLength: number;
}

export interface TextSources {
  readonly stored?: StoredTexts | undefined;
  readonly earlier?: EarlierBlocks | undefined;
}

export interface PackedItems {
  /** PLACE_ELEMENTS an item (`packed-texts.ts`); empty where no item has a text. */
  readonly places: Uint32Array<ArrayBuffer>;
  readonly blocks: PackedBlocks;
  /** In the order of the file. */
  readonly blockFacts: readonly BlockFacts[];
  /** DIGEST_WORDS an item, zeros for an item without a text; empty where no item has one. */
  readonly digests: Uint32Array<ArrayBuffer>;
}

/** Items packed between two yields. */
const PIECE_ITEMS = 4096;

export class ItemTexts {
  readonly #spill: Spill;
  readonly #texts: DistinctTexts;
  readonly #earlier: EarlierBlocks | undefined;
  /** By item: twice the number of its text plus 2, plus 1 when it is truncated; 0 = none. */
  #entries = new Uint32Array(1024);

  constructor(spill: Spill, { earlier, stored }: TextSources = {}) {
    this.#spill = spill;
    this.#texts = new DistinctTexts(spill, stored);
    this.#earlier = earlier;
  }

  /** @param item its number in the build @throws SnapshotError when the spill has no room */
  add(item: number, text: string, isTruncated = false): void {
    this.#set(item, this.#texts.numberOf(text), isTruncated);
  }

  /**
   * Adds a whole text that its source stores. @param digests three words from `at` on @returns the number of the text
   */
  addStored(item: number, digests: Uint32Array, at: number, byteLength: number): number {
    const number = this.#texts.numberOfStored(digests, at, byteLength);
    this.#set(item, number, false);
    return number;
  }

  addDescription(item: number, { key, byteLength }: StoredDescription): void {
    this.addStored(item, digestOfKey(key), 0, byteLength);
  }

  /**
   * Yields between pieces of the work.
   * @param order items in the order in which their texts are packed
   * @param placeOf where an item's place stands among the places
   * @param blockBytes of text in a block; another size than the usual one only for comparison
   */
  *packed(
    order: Iterable<number>,
    count: number,
    placeOf: (item: number) => number,
    blockBytes?: number,
  ): Generator<void, PackedItems, void> {
    const packer = new BlockPacker(this.#spill, this.#texts, this.#earlier, blockBytes);
    const isEmpty = this.#texts.size === 0;
    const places = new Uint32Array(isEmpty ? 0 : count * PLACE_ELEMENTS);
    const digests = new Uint32Array(isEmpty ? 0 : count * DIGEST_WORDS);
    /** By text: the place for which it was packed. */
    const placedFor = new Uint32Array(this.#texts.size).fill(NOT_PLACED);
    let done = 0;
    for (const item of isEmpty ? [] : order) {
      if (++done % PIECE_ITEMS === 0) yield;
      const entry = item < this.#entries.length ? this.#entries[item]! : 0;
      if (entry === 0) continue;
      const number = (entry >>> 1) - 1;
      const isTruncated = (entry & 1) === 1;
      const at = placeOf(item);
      const place = at * PLACE_ELEMENTS;
      digests.set(this.#texts.digestOf(number), at * DIGEST_WORDS);
      const other = placedFor[number]!;
      if (other === NOT_PLACED) {
        placedFor[number] = place;
        packer.put(number, places, place, isTruncated);
        continue;
      }
      places[place] = places[other]!;
      places[place + 1] = places[other + 1]!;
      places[place + 2] = (places[other + 2]! & ~1) | Number(isTruncated);
    }
    const { blocks, facts } = packer.finish();
    return { places, blocks, blockFacts: facts, digests };
  }

  #set(item: number, number: number, isTruncated: boolean): void {
    while (item >= this.#entries.length) this.#entries = grown(this.#entries);
    this.#entries[item] = number * 2 + 2 + Number(isTruncated);
  }
}
