/**
 * The description sections of a snapshot. Texts go to the spill as they arrive, each distinct one once, or stay with their source;
 * at the end they are packed company after company, because one company's descriptions resemble each other, and within one in an
 * order that no observation changes, so that the blocks of an earlier snapshot can be found again.
 * Memory: 4 bytes a job, and what `DistinctTexts` keeps of each distinct text.
 */
import { grown } from '../snapshot/column-arrays.ts';
import { type BlockFacts, BlockPacker, type EarlierBlocks } from './block-packer.ts';
import { DistinctTexts, type StoredTexts } from './distinct-texts.ts';
import type { Spill } from './spill.ts';
import { type PackedBlocks, PLACE_ELEMENTS } from './text-packer.ts';

const NOT_PLACED = 0xffffffff;

/** A description that its source keeps. */
export interface StoredDescription {
  /** As `StoredTexts` has it. */
  readonly key: string;
  /** Of its UTF-8. */
  readonly byteLength: number;
}

export interface DescriptionSources {
  readonly stored?: StoredTexts | undefined;
  readonly earlier?: EarlierBlocks | undefined;
}

export interface DescriptionOrder {
  /** Jobs in the order of the rows. */
  readonly order: Uint32Array;
  /** By row: the code of its company. */
  readonly companies: Uint32Array;
  /** Compares two jobs by what never changes about them. */
  readonly compare: (job: number, other: number) => number;
}

export interface DescriptionSections {
  readonly descriptionPlaces: Uint32Array<ArrayBuffer>;
  readonly descriptionBlocks: PackedBlocks;
  /** In the order of the file. */
  readonly blockFacts: readonly BlockFacts[];
}

export class Descriptions {
  readonly #spill: Spill;
  readonly #texts: DistinctTexts;
  readonly #earlier: EarlierBlocks | undefined;
  /** By job: twice the number of its text plus 2, plus 1 when it is truncated; 0 = none. */
  #entries = new Uint32Array(1024);

  constructor(spill: Spill, { earlier, stored }: DescriptionSources = {}) {
    this.#spill = spill;
    this.#texts = new DistinctTexts(spill, stored);
    this.#earlier = earlier;
  }

  /** @param job its number in the builder @throws SnapshotError when the spill has no room */
  add(job: number, text: string, isTruncated: boolean): void {
    this.#set(job, this.#texts.numberOf(text), isTruncated);
  }

  /** A whole description, which its source keeps. @param job its number in the builder */
  addStored(job: number, { key, byteLength }: StoredDescription): void {
    this.#set(job, this.#texts.numberOfStored(key, byteLength), false);
  }

  /** @param blockBytes of text in a block; another size than the usual one only for comparison */
  sections({ order, companies, compare }: DescriptionOrder, blockBytes?: number): DescriptionSections {
    const packer = new BlockPacker(this.#spill, this.#texts, this.#earlier, blockBytes);
    const places = new Uint32Array(this.#texts.size === 0 ? 0 : order.length * PLACE_ELEMENTS);
    /** By text: the row that it was packed for. */
    const placedFor = new Uint32Array(this.#texts.size).fill(NOT_PLACED);
    const rows = this.#texts.size === 0 ? [] : rowsByCompany(companies, (a, b) => compare(order[a]!, order[b]!));
    for (const row of rows) {
      const job = order[row]!;
      const entry = job < this.#entries.length ? this.#entries[job]! : 0;
      if (entry === 0) continue;
      const number = (entry >>> 1) - 1;
      const isTruncated = (entry & 1) === 1;
      const place = row * PLACE_ELEMENTS;
      const other = placedFor[number]!;
      if (other === NOT_PLACED) {
        placedFor[number] = row;
        packer.put(number, places, place, isTruncated);
        continue;
      }
      const from = other * PLACE_ELEMENTS;
      places[place] = places[from]!;
      places[place + 1] = places[from + 1]!;
      places[place + 2] = (places[from + 2]! & ~1) | Number(isTruncated);
    }
    const { blocks, facts } = packer.finish();
    return { descriptionPlaces: places, descriptionBlocks: blocks, blockFacts: facts };
  }

  #set(job: number, number: number, isTruncated: boolean): void {
    while (job >= this.#entries.length) this.#entries = grown(this.#entries);
    this.#entries[job] = number * 2 + 2 + Number(isTruncated);
  }
}

/** All rows, by the code of their company, those of one company as `compare` says. */
function rowsByCompany(codes: Uint32Array, compare: (row: number, other: number) => number): Uint32Array {
  const ends = new Uint32Array(codes.reduce((most, code) => Math.max(most, code), 0) + 1);
  for (const code of codes) ends[code] = ends[code]! + 1;
  for (let code = 1; code < ends.length; code++) ends[code] = ends[code]! + ends[code - 1]!;
  const rows = new Uint32Array(codes.length);
  const next = ends.slice();
  for (let row = codes.length - 1; row >= 0; row--) {
    const code = codes[row]!;
    next[code] = next[code]! - 1;
    rows[next[code]!] = row;
  }
  for (let code = 0, start = 0; code < ends.length; start = ends[code++]!)
    rows.subarray(start, ends[code]!).sort(compare);
  return rows;
}
