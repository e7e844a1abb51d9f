/**
 * The tokens of one group of fields, as views of the snapshot's bytes (sections.ts): which of them contain a term, and
 * where their rows are.
 *
 * Cost of a term: about 40 comparisons of bytes for its run of suffixes, then one step for each set and for each token
 * outside the run's merged sets, which the builder keeps few.
 */
import { TOKEN_END } from './sections.ts';

/** Sections of a group; the snapshot owns them. */
export interface TokenSections {
  readonly text: Uint8Array;
  readonly suffixes: Uint32Array;
  readonly tokens: Uint32Array;
  readonly rareOffsets: Uint32Array;
  readonly rareRows: Uint32Array;
  readonly ranges: Uint32Array;
}

/** Where the rows of a term are: the union of some sets and some lists of rows. */
export interface TermPlaces {
  /** Numbers of sets. */
  readonly sets: number[];
  /** Rare tokens, counted from the first rare one. */
  readonly rareTokens: number[];
  /** Rows of the rare tokens together, repeats counted. */
  readonly rareRowCount: number;
}

const encoder = new TextEncoder();

export class TokenIndex {
  readonly sections: TokenSections;
  readonly #frequentCount: number;
  readonly #firstSet: number;

  /** @param frequentCount tokens with a set @param firstSet number of the set of token 0 */
  constructor(sections: TokenSections, frequentCount: number, firstSet: number) {
    this.sections = sections;
    this.#frequentCount = frequentCount;
    this.#firstSet = firstSet;
  }

  /** Sets of the frequent tokens and of the merged ranges. */
  get setCount(): number {
    return this.#frequentCount + this.sections.ranges.length / 2;
  }

  /** @param term in compared form, not empty, without a blank @returns undefined when no token contains it */
  find(term: string): TermPlaces | undefined {
    const bytes = encoder.encode(term);
    const start = this.#firstFrom(bytes, 0);
    const end = this.#firstFrom(bytes, 1);
    return start === end ? undefined : this.#placesIn(start, end);
  }

  /**
   * The first suffix after all that sort before the term.
   * @param asPrefix 1 = and after all that begin with it
   */
  #firstFrom(term: Uint8Array, asPrefix: 0 | 1): number {
    const { suffixes, text } = this.sections;
    let low = 0;
    let high = suffixes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = suffixes[middle]!;
      let i = 0;
      // Every token ends with a byte that no term has, so this stops there.
      while (i < term.length && text[at + i] === term[i]) i++;
      const isBefore = i === term.length ? asPrefix === 1 : text[at + i]! < term[i]!;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placesIn(start: number, end: number): TermPlaces {
    const { ranges, rareOffsets, tokens } = this.sections;
    const sets: number[] = [];
    const rareTokens: number[] = [];
    let rareRowCount = 0;
    let range = this.#firstRangeFrom(start);
    for (let i = start; i < end; ) {
      // Of the ranges that start here the outermost that is not larger than the term's run.
      while (ranges[range] === i && ranges[range + 1]! > end) range += 2;
      if (ranges[range] === i) {
        sets.push(this.#firstSet + this.#frequentCount + range / 2);
        i = ranges[range + 1]!;
        range = this.#firstRangeFrom(i);
        continue;
      }
      const token = tokens[i++]!;
      if (token < this.#frequentCount) {
        const set = this.#firstSet + token;
        if (sets.at(-1) !== set) sets.push(set);
      } else {
        const rare = token - this.#frequentCount;
        rareTokens.push(rare);
        rareRowCount += rareOffsets[rare + 1]! - rareOffsets[rare]!;
      }
    }
    return { sets, rareTokens, rareRowCount };
  }

  /** The index in `ranges` of the first one that starts at `start` or later. */
  #firstRangeFrom(start: number): number {
    const { ranges } = this.sections;
    let low = 0;
    let high = ranges.length / 2;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ranges[middle * 2]! < start) low = middle + 1;
      else high = middle;
    }
    return low * 2;
  }
}

/**
 * Checks that the sections are consistent, so that no question reads outside an array.
 * @param group how the names of its sections begin
 * @returns what is wrong
 */
export function faultInTokens(
  group: string,
  { rareOffsets, rareRows, ranges, suffixes, text, tokens }: TokenSections,
  frequentCount: number,
  rowCount: number,
): string | undefined {
  const tokenCount = frequentCount + rareOffsets.length - 1;
  if (rareOffsets.length === 0 || rareOffsets[0] !== 0 || rareOffsets.at(-1) !== rareRows.length) {
    return `has wrong ends in ${group}RareOffsets`;
  }
  for (let i = 1; i < rareOffsets.length; i++) {
    if (rareOffsets[i]! < rareOffsets[i - 1]!) return `has ${group}RareOffsets out of order`;
  }
  for (let i = 0; i < rareRows.length; i++) {
    if (rareRows[i]! >= rowCount) return `has a row past the last in ${group}RareRows`;
  }
  if (text.length > 0 && text.at(-1) !== TOKEN_END) return `has a word without an end in ${group}Text`;
  if (tokens.length !== suffixes.length) return `has ${tokens.length} elements in ${group}Tokens`;
  for (let i = 0; i < suffixes.length; i++) {
    if (suffixes[i]! >= text.length) return `has a place outside its words in ${group}Suffixes`;
    if (tokens[i]! >= tokenCount) return `has an unknown word in ${group}Tokens`;
  }
  if (ranges.length % 2 !== 0) return `has ${ranges.length} elements in ${group}Ranges`;
  for (let i = 0; i < ranges.length; i += 2) {
    const start = ranges[i]!;
    const end = ranges[i + 1]!;
    if (start >= end || end > suffixes.length) return `has a range outside the suffixes in ${group}Ranges`;
    const isInOrder = i === 0 || ranges[i - 2]! < start || (ranges[i - 2] === start && ranges[i - 1]! > end);
    if (!isInOrder) return `has ${group}Ranges out of order`;
  }
  return undefined;
}
