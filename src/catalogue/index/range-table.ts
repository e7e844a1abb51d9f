/**
 * Chooses the runs of suffixes that get a bitmap of their rows: those that a term can select and that have many postings.
 */
import { TERM_BITMAPS_MAX } from '../limits.ts';
import type { SuffixArray } from './suffix-array.ts';

/** All suffixes that begin with the same ranks. */
export interface SuffixRange {
  readonly start: number;
  readonly end: number;
  /** How many leading ranks its suffixes are known to share; all are at least this long. */
  readonly depth: number;
  /** The largest ranges inside it, in order. */
  readonly inside: SuffixRange[];
}

/** Ranges by start and end, as plain data. */
export interface RangeSlots {
  /** Ranges. */
  readonly size: number;
  /**
   * Start, end and number of a range in each slot; an end of 0 = free. The number of slots is a power of two; at most
   * half are used.
   */
  readonly slots: Uint32Array;
}

/** Gives each range its index in the list as its number. */
export function rangeSlotsOf(ranges: readonly SuffixRange[]): RangeSlots {
  const slotCount = 2 ** Math.ceil(Math.log2(2 * ranges.length + 1));
  const mask = slotCount - 1;
  const slots = new Uint32Array(slotCount * 3);
  for (const [number, { end, start }] of ranges.entries()) {
    let slot = firstSlotOf(start, end, mask);
    while (slots[slot * 3 + 1] !== 0) slot = (slot + 1) & mask;
    slots.set([start, end, number], slot * 3);
  }
  return { size: ranges.length, slots };
}

function firstSlotOf(start: number, end: number, mask: number): number {
  const hash = Math.imul(start, 0x2c1b3c6d) ^ Math.imul(end, 0x01000193);
  return (hash ^ (hash >>> 15)) & mask;
}

/** The number of each range of a list, in an open-addressed hash table. */
export class RangeTable {
  readonly size: number;
  readonly #slots: Uint32Array;
  readonly #mask: number;

  constructor({ size, slots }: RangeSlots) {
    this.size = size;
    this.#slots = slots;
    this.#mask = slots.length / 3 - 1;
  }

  /** The number of a range that is in the list; for any other range the search would never end. */
  numberOf(start: number, end: number): number {
    const slots = this.#slots;
    let slot = firstSlotOf(start, end, this.#mask);
    while (slots[slot * 3] !== start || slots[slot * 3 + 1] !== end) slot = (slot + 1) & this.#mask;
    return slots[slot * 3 + 2]!;
  }
}

/**
 * The ranges of suffixes that some term selects and that have more than `postingsMax` postings, outer before inner:
 * first the suffixes that begin with one rank, then among those the ones that continue with another, and so on.
 * @param postingSums by index of a suffix: postings of all suffixes before it
 * @returns `undefined` when there are more than TERM_BITMAPS_MAX
 */
export function frequentRanges(
  { firstWith, suffixes, text }: SuffixArray,
  postingSums: Float64Array,
  postingsMax: number,
): SuffixRange[] | undefined {
  const ranges: SuffixRange[] = [];
  const add = (start: number, end: number, depth: number, into?: SuffixRange[]): void => {
    if (postingSums[end]! - postingSums[start]! <= postingsMax) return;
    const range = { start, end, depth, inside: [] };
    ranges.push(range);
    into?.push(range);
  };
  for (let rank = 1; rank + 1 < firstWith.length; rank++) add(firstWith[rank]!, firstWith[rank + 1]!, 1);
  // The loop also visits the ranges that it adds.
  for (const { depth, end, inside, start } of ranges) {
    if (ranges.length > TERM_BITMAPS_MAX) return undefined;
    if (end - start === 1) continue;
    let shared = depth;
    const rankAt = (place: number): number => text[suffixes[place]! + shared]!;
    // While all suffixes continue with the same rank, the range stays the same.
    while (rankAt(start) !== 0 && rankAt(start) === rankAt(end - 1)) shared++;
    for (let from = start, to = start; from < end; from = to) {
      const rank = rankAt(from);
      // Gallop: double the step until one is too far, then bisect between the last two.
      let step = 1;
      while (from + step < end && rankAt(from + step) === rank) step *= 2;
      let last = from + (step >>> 1);
      to = Math.min(from + step, end);
      while (last + 1 < to) {
        const middle = (last + to) >>> 1;
        if (rankAt(middle) === rank) last = middle;
        else to = middle;
      }
      // Suffixes that end here belong to this range and to none inside it.
      if (rank !== 0) add(from, to, shared + 1, inside);
    }
  }
  return ranges;
}
