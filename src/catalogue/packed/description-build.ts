/**
 * The description sections of a snapshot. Texts go to the spill as they arrive, each distinct one once; at the end they are
 * packed company after company, in the order of the rows, because one company's descriptions resemble each other.
 * Memory: 4 bytes a job, and what `DistinctTexts` keeps of each distinct text.
 */
import { grown } from '../snapshot/column-arrays.ts';
import { DistinctTexts } from './distinct-texts.ts';
import type { Spill } from './spill.ts';
import { type PackedBlocks, PLACE_ELEMENTS, TextPacker } from './text-packer.ts';

const NOT_PLACED = 0xffffffff;

export class Descriptions {
  readonly #spill: Spill;
  readonly #texts: DistinctTexts;
  /** By job: twice the number of its text plus 2, plus 1 when it is truncated; 0 = none. */
  #entries = new Uint32Array(1024);

  constructor(spill: Spill) {
    this.#spill = spill;
    this.#texts = new DistinctTexts(spill);
  }

  /** @param job its number in the builder @throws SnapshotError when the spill has no room */
  add(job: number, text: string, isTruncated: boolean): void {
    while (job >= this.#entries.length) this.#entries = grown(this.#entries);
    this.#entries[job] = this.#texts.numberOf(text) * 2 + 2 + Number(isTruncated);
  }

  /**
   * @param order jobs in the order of the rows
   * @param companies by row: the code of its company
   * @param blockBytes of text in a block; another size than the usual one only for comparison
   */
  sections(
    order: Uint32Array,
    companies: Uint32Array,
    blockBytes?: number,
  ): { readonly descriptionPlaces: Uint32Array<ArrayBuffer>; readonly descriptionBlocks: PackedBlocks } {
    const packer = new TextPacker(this.#spill, blockBytes);
    if (this.#texts.size === 0) return { descriptionPlaces: new Uint32Array(0), descriptionBlocks: packer.finish() };
    const places = new Uint32Array(order.length * PLACE_ELEMENTS);
    /** By text: the row that it was packed for. */
    const placedFor = new Uint32Array(this.#texts.size).fill(NOT_PLACED);
    for (const row of rowsByCode(companies)) {
      const job = order[row]!;
      const entry = job < this.#entries.length ? this.#entries[job]! : 0;
      if (entry === 0) continue;
      const number = (entry >>> 1) - 1;
      const isTruncated = (entry & 1) === 1;
      const place = row * PLACE_ELEMENTS;
      const other = placedFor[number]!;
      if (other === NOT_PLACED) {
        placedFor[number] = row;
        packer.put(this.#texts.bytesOf(number), places, place, isTruncated);
        continue;
      }
      const from = other * PLACE_ELEMENTS;
      places[place] = places[from]!;
      places[place + 1] = places[from + 1]!;
      places[place + 2] = (places[from + 2]! & ~1) | Number(isTruncated);
    }
    return { descriptionPlaces: places, descriptionBlocks: packer.finish() };
  }
}

/** All rows, by code, those of one code ascending. */
function rowsByCode(codes: Uint32Array): Uint32Array {
  const next = new Uint32Array(codes.reduce((most, code) => Math.max(most, code), 0) + 2);
  for (const code of codes) next[code + 1] = next[code + 1]! + 1;
  for (let code = 1; code < next.length; code++) next[code] = next[code]! + next[code - 1]!;
  const rows = new Uint32Array(codes.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!;
    const place = next[code]!;
    rows[place] = row;
    next[code] = place + 1;
  }
  return rows;
}
