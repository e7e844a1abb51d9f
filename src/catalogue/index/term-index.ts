/**
 * Which rows of a cohort contain a term (decisions §3, "Order, cohort, matching"). A term has no blank, so a text
 * contains it exactly when one of the text's tokens does. Tokens repeat, so the index is over the distinct tokens, a
 * few per cent of the text. A suffix array over them (suffix-array.ts) finds every token that contains a term, posting
 * lists give the rows of each token, bitmaps the rows of frequent terms (range-table.ts).
 *
 * Cost of a term: a table lookup for its first two letters and two binary searches (10 to 20 steps) for the rest, then
 * either one pass over the words of a bitmap or about as many postings as a bitmap has words: every term in more rows
 * has a bitmap, whether whole word or part of one, unless there would be more than TERM_BITMAPS_MAX. The index is built
 * once for each cohort and group of fields.
 */
import { BitSet, type WordRun } from '../../base/bitset.ts';
import type { Steps } from '../../base/steps.ts';
import { INDEX_UNITS_MAX } from '../limits.ts';
import { frequentRanges, type RangeSlots, RangeTable, rangeSlotsOf, type SuffixRange } from './range-table.ts';
import { buildSuffixArray, type SuffixArray } from './suffix-array.ts';

/** The compared texts (terms.ts) of one field for the rows of a cohort. */
export interface IndexedField {
  /** Texts as their tokens; mostly distinct. */
  readonly texts: readonly (readonly string[])[];
  /** Indexes in `texts`, row after row; those of row r are `numbers[offsets[r]] .. numbers[offsets[r + 1] - 1]`. */
  readonly numbers: Uint16Array | Uint32Array;
  readonly offsets: Uint32Array;
}

/** One index over several fields, or `undefined` when their distinct tokens are too long for one (limits.ts). */
export function* buildTermIndex(rowCount: number, fields: readonly IndexedField[]): Steps<TermIndex | undefined> {
  const vocabulary = new Map<string, number>();
  let unitCount = 0;
  const split = fields.map(({ texts }) => {
    const offsets = new Uint32Array(texts.length + 1);
    const tokens: number[] = [];
    for (let i = 0; i < texts.length; i++) {
      for (const token of texts[i]!) {
        let number = vocabulary.get(token);
        if (number === undefined) {
          number = vocabulary.size;
          vocabulary.set(token, number);
          unitCount += token.length + 1;
        }
        tokens.push(number);
      }
      offsets[i + 1] = tokens.length;
    }
    return { offsets, tokens };
  });
  if (unitCount > INDEX_UNITS_MAX) return undefined;
  yield;

  // Two equal passes over all rows: the first counts the rows of each token, the second writes them.
  const postingOffsets = new Uint32Array(vocabulary.size + 1);
  const lastRow = new Int32Array(vocabulary.size);
  const pass = (see: (token: number, row: number) => void): void => {
    lastRow.fill(-1);
    for (let row = 0; row < rowCount; row++) {
      for (let f = 0; f < fields.length; f++) {
        const { numbers, offsets } = fields[f]!;
        const { offsets: tokenOffsets, tokens } = split[f]!;
        for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
          const text = numbers[i]!;
          for (let t = tokenOffsets[text]!; t < tokenOffsets[text + 1]!; t++) {
            const token = tokens[t]!;
            if (lastRow[token] === row) continue;
            lastRow[token] = row;
            see(token, row);
          }
        }
      }
    }
  };
  pass((token) => {
    postingOffsets[token + 1] = postingOffsets[token + 1]! + 1;
  });
  for (let token = 0; token < vocabulary.size; token++) {
    postingOffsets[token + 1] = postingOffsets[token + 1]! + postingOffsets[token]!;
  }
  const next = postingOffsets.slice();
  const postings = new Uint16Array(postingOffsets[vocabulary.size]!);
  pass((token, row) => {
    const place = next[token]!;
    postings[place] = row;
    next[token] = place + 1;
  });
  yield;
  const suffixArray = buildSuffixArray([...vocabulary.keys()], unitCount);
  yield;
  return new TermIndex(indexDataOf(suffixArray, rowCount, postingOffsets, postings));
}

/** Postings that take no longer than the shortest bitmap. */
const LISTED_POSTINGS_MIN = 64;

/** A set of a cohort's rows, in words that may hold further sets of the same length. */
export interface RowBitmap extends WordRun {
  /** Upper bound of its rows. */
  readonly rowCountMax: number;
}

/** A term that an index contains: a run of its suffixes. */
export interface FoundTerm extends RowBitmap {
  readonly index: TermIndex;
  readonly start: number;
  readonly end: number;
  /** Where the bitmap of the term's rows starts in `words`; -1 = it has none. */
  readonly wordsStart: number;
}

/** What a term index is made of, as plain data: a thread can build it and hand it over. */
export interface TermIndexData {
  readonly suffixArray: SuffixArray;
  readonly rowCount: number;
  /** By index of a suffix: postings of all suffixes before it; one more element than there are suffixes. */
  readonly postingSums: Float64Array;
  readonly postingOffsets: Uint32Array;
  /** Rows of each token, token after token, divided by `postingOffsets`. */
  readonly postings: Uint16Array;
  /** A term with more postings has a bitmap. */
  readonly listedPostingsMax: number;
  readonly ranges: RangeSlots;
  /** Bitmaps of the cohort's rows, one for each of `ranges` in order of their numbers, from `bitmapsStart` on. */
  readonly bitmaps: Int32Array;
  readonly bitmapsStart: number;
}

function indexDataOf(
  suffixArray: SuffixArray,
  rowCount: number,
  postingOffsets: Uint32Array,
  postings: Uint16Array,
): TermIndexData {
  const { suffixes, tokenOf } = suffixArray;
  const postingSums = new Float64Array(suffixes.length + 1);
  for (let i = 0; i < suffixes.length; i++) {
    const token = tokenOf[i]!;
    postingSums[i + 1] = postingSums[i]! + postingOffsets[token + 1]! - postingOffsets[token]!;
  }
  const wordCount = (rowCount + 31) >>> 5;
  let listedPostingsMax = Math.max(wordCount, LISTED_POSTINGS_MIN);
  let found: SuffixRange[] | undefined;
  while (true) {
    found = frequentRanges(suffixArray, postingSums, listedPostingsMax);
    if (found !== undefined) break;
    listedPostingsMax *= 2;
  }
  const ranges = rangeSlotsOf(found);
  const table = new RangeTable(ranges);
  const bitmaps = new Int32Array(found.length * wordCount);
  const rows = new BitSet(rowCount);
  const addSuffixes = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const token = tokenOf[i]!;
      rows.addFrom(postings, postingOffsets[token]!, postingOffsets[token + 1]!);
    }
  };
  // The ranges inside a range come after it in the list, so a backward pass has their bitmaps ready before its own.
  for (let i = found.length - 1; i >= 0; i--) {
    const { end, inside, start } = found[i]!;
    rows.clear();
    let done = start;
    for (const inner of inside) {
      addSuffixes(done, inner.start);
      rows.addWords(bitmaps, table.numberOf(inner.start, inner.end) * wordCount);
      done = inner.end;
    }
    addSuffixes(done, end);
    rows.writeWords(bitmaps, i * wordCount);
  }
  return {
    suffixArray,
    rowCount,
    postingSums,
    postingOffsets,
    postings,
    listedPostingsMax,
    ranges,
    bitmaps,
    bitmapsStart: 0,
  };
}

export class TermIndex {
  readonly #data: TermIndexData;
  readonly #suffixArray: SuffixArray;
  /** Words of one bitmap. */
  readonly #wordCount: number;
  readonly #postingSums: Float64Array;
  readonly #postingOffsets: Uint32Array;
  readonly #postings: Uint16Array;
  readonly #listedPostingsMax: number;
  /** Replaced, with its start, by `moveBitmaps`. */
  #bitmaps: Int32Array;
  #bitmapsStart: number;
  readonly #ranges: RangeTable;
  /** Scratch of `find`: the ranks of the term. */
  #ranks = new Uint16Array(128);

  constructor(data: TermIndexData) {
    this.#data = data;
    this.#suffixArray = data.suffixArray;
    this.#wordCount = (data.rowCount + 31) >>> 5;
    this.#postingSums = data.postingSums;
    this.#postingOffsets = data.postingOffsets;
    this.#postings = data.postings;
    this.#listedPostingsMax = data.listedPostingsMax;
    this.#bitmaps = data.bitmaps;
    this.#bitmapsStart = data.bitmapsStart;
    this.#ranges = new RangeTable(data.ranges);
  }

  /** The index as plain data, its bitmaps where they are now. */
  get data(): TermIndexData {
    return { ...this.#data, bitmaps: this.#bitmaps, bitmapsStart: this.#bitmapsStart };
  }

  /** Words of all bitmaps. */
  get bitmapsLength(): number {
    return this.#ranges.size * this.#wordCount;
  }

  /** Moves the bitmaps into `words` from `start` on, beside others that questions intersect with them (bitset.ts). */
  moveBitmaps(words: Int32Array, start: number): void {
    words.set(this.#bitmaps.subarray(this.#bitmapsStart, this.#bitmapsStart + this.bitmapsLength), start);
    this.#bitmaps = words;
    this.#bitmapsStart = start;
  }

  /** @param term not empty, without a blank @returns `undefined` when no token contains it */
  find(term: string): FoundTerm | undefined {
    const { length } = term;
    const { firstWith, firstWithPair, rankOf } = this.#suffixArray;
    if (length > this.#ranks.length) this.#ranks = new Uint16Array(length);
    const ranks = this.#ranks;
    for (let i = 0; i < length; i++) {
      const rank = rankOf[term.charCodeAt(i)] ?? 0;
      if (rank === 0) return undefined;
      ranks[i] = rank;
    }
    let start = firstWith[ranks[0]!]!;
    let end = firstWith[ranks[0]! + 1]!;
    let known = 1;
    if (length > 1 && firstWithPair.length > 0) {
      const pair = ranks[0]! * (firstWith.length - 1) + ranks[1]!;
      start = firstWithPair[pair]!;
      end = firstWithPair[pair + 1]!;
      if (start === end) return undefined;
      known = 2;
    }
    if (length > known) {
      start = this.#firstNotBefore(known, length, start, end);
      if (start === end || !this.#beginsWith(start, known, length)) return undefined;
      end = this.#firstWithout(known, length, start, end);
    }
    const rowCountMax = this.#postingSums[end]! - this.#postingSums[start]!;
    const hasBitmap = rowCountMax > this.#listedPostingsMax;
    const wordsStart = hasBitmap ? this.#bitmapsStart + this.#ranges.numberOf(start, end) * this.#wordCount : -1;
    return { index: this, start, end, rowCountMax, words: this.#bitmaps, wordsStart };
  }

  /** Replaces `rows`, a set of the cohort's rows, by the rows of a term that this index found. */
  writeRows(found: FoundTerm, rows: BitSet): void {
    if (found.wordsStart >= 0) rows.readWords(found.words, [found.wordsStart]);
    else {
      rows.clear();
      this.#addSuffixes(found.start, found.end, rows);
    }
  }

  /** Rows of each token, token after token; read only. */
  get postings(): Uint16Array {
    return this.#postings;
  }

  /** If exactly one suffix begins with the term, where its rows start in `postings`; else -1. */
  postingsStartOf({ end, start }: FoundTerm): number {
    return end - start === 1 ? this.#postingOffsets[this.#suffixArray.tokenOf[start]!]! : -1;
  }

  /**
   * Writes the rows of a term into `into`, each once, in no order.
   * @param scratch a set of the cohort's rows, overwritten
   * @returns the number written, at most the term's `rowCountMax`
   */
  listRows({ end, start }: FoundTerm, into: Uint16Array, scratch: BitSet): number {
    const { tokenOf } = this.#suffixArray;
    const offsets = this.#postingOffsets;
    const postings = this.#postings;
    const { words } = scratch;
    scratch.clear();
    let count = 0;
    for (let i = start; i < end; i++) {
      const token = tokenOf[i]!;
      const past = offsets[token + 1]!;
      for (let place = offsets[token]!; place < past; place++) {
        const row = postings[place]!;
        const word = words[row >>> 5]!;
        words[row >>> 5] = word | (1 << (row & 31));
        // A row may have several of the tokens, so only a new one advances the count.
        into[count] = row;
        count += (~word >>> (row & 31)) & 1;
      }
    }
    return count;
  }

  #addSuffixes(start: number, end: number, into: BitSet): void {
    const { tokenOf } = this.#suffixArray;
    const offsets = this.#postingOffsets;
    for (let i = start; i < end; i++) {
      const token = tokenOf[i]!;
      into.addFrom(this.#postings, offsets[token]!, offsets[token + 1]!);
    }
  }

  /**
   * The first suffix of `from .. to` that does not sort before the first `length` of `#ranks`. All suffixes of the
   * range begin with the first `known` of them.
   */
  #firstNotBefore(known: number, length: number, from: number, to: number): number {
    const { suffixes, text } = this.#suffixArray;
    const ranks = this.#ranks;
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = suffixes[middle]!;
      let i = known;
      // A token ends with 0, which equals no rank of a term, so this stops at the end of the token.
      while (i < length && text[at + i] === ranks[i]) i++;
      if (i < length && text[at + i]! < ranks[i]!) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The first suffix of `from .. to` that does not begin with the first `length` of `#ranks`, or `to`; the one at
   * `from` does.
   */
  #firstWithout(known: number, length: number, from: number, to: number): number {
    // Most terms begin only a few suffixes, so galloping is faster than bisecting the whole range.
    let step = 1;
    while (from + step < to && this.#beginsWith(from + step, known, length)) step *= 2;
    let low = from + (step >>> 1) + 1;
    let high = Math.min(from + step, to);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#beginsWith(middle, known, length)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #beginsWith(index: number, known: number, length: number): boolean {
    const { suffixes, text } = this.#suffixArray;
    const ranks = this.#ranks;
    const at = suffixes[index]!;
    for (let i = known; i < length; i++) if (text[at + i] !== ranks[i]) return false;
    return true;
  }
}
