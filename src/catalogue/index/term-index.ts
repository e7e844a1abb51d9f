/**
 * Which rows of a cohort hold a term (decisions §3, "Order, cohort, matching"). A term has no blank, so it lies inside
 * a text exactly when it lies inside one of the text's tokens, and tokens repeat: the index is over the distinct
 * tokens, which are a few per cent of the text. A suffix array over them finds every token that a term lies in, posting
 * lists give the rows of each token, bitmaps those of the frequent ones.
 *
 * Cost of a term: a look at its first two letters and two binary searches (10 to 20 steps) for the rest, then either one pass over
 * the words of a bitmap or about as many postings as that has words: whatever lies in more rows has a bitmap, a piece of a
 * word as well as a word, unless those are more than TERM_BITMAPS_MAX. The index is built once a cohort and field group.
 */
import { BitSet, type WordRun } from '../../base/bitset.ts';
import { INDEX_UNITS_MAX, PART_INDEX_UNITS_MAX, PART_ROWS_MAX, TERM_BITMAPS_MAX } from '../limits.ts';

/** The compared texts (terms.ts) of one field for the rows of a cohort. */
export interface IndexedField {
  /** Texts as their tokens; distinct as far as that is cheap. */
  readonly texts: readonly (readonly string[])[];
  /** Places in `texts`, row after row; those of row r lie between `offsets[r]` and `offsets[r + 1]`. */
  readonly numbers: Uint16Array | Uint32Array;
  readonly offsets: Uint32Array;
}

/** The index of several fields together, or `undefined` when their distinct tokens are too long for one. */
export function buildTermIndex(rowCount: number, fields: readonly IndexedField[]): TermIndex | undefined {
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
  if (unitCount > (rowCount <= PART_ROWS_MAX ? PART_INDEX_UNITS_MAX : INDEX_UNITS_MAX)) return undefined;

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
  return new TermIndex(suffixOrderOf([...vocabulary.keys()], unitCount), rowCount, postingOffsets, postings);
}

/** So many postings are as quick as the shortest bitmap. */
const LISTED_POSTINGS_MIN = 64;

/** Rows of a cohort as a set among others of as many words. */
export interface RowBitmap extends WordRun {
  /** At most this many rows are in it. */
  readonly rowCountMax: number;
}

/** Where a term lies in an index: a run of its suffixes. */
export interface FoundTerm extends RowBitmap {
  readonly index: TermIndex;
  readonly start: number;
  readonly end: number;
  /** Where the bitmap of its rows starts in `words`; -1 = it has none. */
  readonly wordsStart: number;
}

/** The tokens of an index, and every place that a term can lie at. */
interface SuffixOrder {
  /** Tokens one after another as ranks of code units, 0 after each. */
  readonly text: Uint16Array;
  /** Rank of a code unit, 1 and up in order of units; 0 or nothing = in no token. */
  readonly rankOf: Uint16Array;
  /** Places in the text of every suffix of every token, in order of their ranks; equal ones in any order. */
  readonly suffixes: Uint32Array;
  /** The token of each suffix, in the same order. */
  readonly tokenOf: Uint32Array;
  /** Where the suffixes that begin with a rank start; one more element than there are ranks, 0 included. */
  readonly firstWith: Uint32Array;
  /**
   * Where the suffixes that begin with a rank r and go on with s, 0 = not at all, start: element r * (ranks + 1) + s, with the ranks
   * counted without 0; the suffixes end where those of the next element start. Empty where it would be longer than there are suffixes.
   */
  readonly firstWithPair: Uint32Array;
}

/** unitCount  code units of all tokens, and one more for each */
function suffixOrderOf(tokens: readonly string[], unitCount: number): SuffixOrder {
  const text = new Uint16Array(unitCount);
  const starts = new Uint32Array(tokens.length + 1);
  let end = 0;
  let largest = 0;
  for (let token = 0; token < tokens.length; token++) {
    const units = tokens[token]!;
    for (let i = 0; i < units.length; i++) {
      const unit = units.charCodeAt(i);
      if (unit > largest) largest = unit;
      text[end++] = unit;
    }
    starts[token + 1] = ++end;
  }
  // No token has a blank in it, so there are at most 65535 ranks, and they fit beside the 0.
  const rankOf = new Uint16Array(largest + 1);
  for (let token = 0; token < tokens.length; token++) {
    for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) rankOf[text[i]!] = 1;
  }
  let rankCount = 0;
  for (let unit = 0; unit <= largest; unit++) if (rankOf[unit] !== 0) rankOf[unit] = ++rankCount;
  for (let token = 0; token < tokens.length; token++) {
    for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) text[i] = rankOf[text[i]!]!;
  }
  // What separates tokens was left 0; a token may hold U+0000, which has a rank of its own.
  const suffixes = suffixesInOrder(text, starts, rankCount);
  const tokenAt = new Uint32Array(unitCount);
  for (let token = 0; token < tokens.length; token++) tokenAt.fill(token, starts[token]!, starts[token + 1]!);
  const firstWith = new Uint32Array(rankCount + 2);
  for (const suffix of suffixes) {
    const place = text[suffix]! + 1;
    firstWith[place] = firstWith[place]! + 1;
  }
  for (let rank = 1; rank < firstWith.length; rank++) firstWith[rank] = firstWith[rank]! + firstWith[rank - 1]!;
  const tokenOf = suffixes.map((suffix) => tokenAt[suffix]!);
  return { text, rankOf, suffixes, tokenOf, firstWith, firstWithPair: pairsIn(text, suffixes, rankCount) };
}

function pairsIn(text: Uint16Array, suffixes: Uint32Array, rankCount: number): Uint32Array {
  const span = rankCount + 1;
  if (span * span > suffixes.length) return new Uint32Array(0);
  const firstWithPair = new Uint32Array(span * span + 1);
  for (const suffix of suffixes) {
    const place = text[suffix]! * span + text[suffix + 1]! + 1;
    firstWithPair[place] = firstWithPair[place]! + 1;
  }
  for (let i = 1; i < firstWithPair.length; i++) firstWithPair[i] = firstWithPair[i]! + firstWithPair[i - 1]!;
  return firstWithPair;
}

export class TermIndex {
  readonly #order: SuffixOrder;
  readonly #rowCount: number;
  /** Of one bitmap. */
  readonly #wordCount: number;
  /** Postings of the suffixes before each place; one more element than there are suffixes. */
  readonly #postingSums: Float64Array;
  readonly #postingOffsets: Uint32Array;
  /** Rows of token after token. */
  readonly #postings: Uint16Array;

  /** Terms with more postings have a bitmap. */
  readonly #listedPostingsMax: number;
  /** Bitmaps of the cohort's rows, one for each numbered range of suffixes, one after another from a place on. */
  #bitmaps: Int32Array;
  #bitmapsStart = 0;
  readonly #ranges: RangeNumbers;
  /** Scratch of `find`: the ranks of the term. */
  #ranks = new Uint16Array(128);

  constructor(order: SuffixOrder, rowCount: number, postingOffsets: Uint32Array, postings: Uint16Array) {
    const { suffixes, tokenOf } = order;
    this.#order = order;
    this.#rowCount = rowCount;
    this.#postingOffsets = postingOffsets;
    this.#postings = postings;
    const postingSums = new Float64Array(suffixes.length + 1);
    for (let i = 0; i < suffixes.length; i++) {
      const token = tokenOf[i]!;
      postingSums[i + 1] = postingSums[i]! + postingOffsets[token + 1]! - postingOffsets[token]!;
    }
    this.#postingSums = postingSums;

    const wordCount = (rowCount + 31) >>> 5;
    this.#wordCount = wordCount;
    this.#listedPostingsMax = Math.max(wordCount, LISTED_POSTINGS_MIN);
    let ranges: SuffixRange[] | undefined;
    while (true) {
      ranges = frequentRanges(order, postingSums, this.#listedPostingsMax);
      if (ranges !== undefined) break;
      this.#listedPostingsMax *= 2;
    }
    this.#bitmaps = new Int32Array(ranges.length * wordCount);
    this.#ranges = new RangeNumbers(ranges);
    const rows = new BitSet(rowCount);
    // The ranges inside a range come after it, and are put together before it.
    for (let i = ranges.length - 1; i >= 0; i--) {
      const { end, inside, start } = ranges[i]!;
      rows.clear();
      let done = start;
      for (const inner of inside) {
        this.#addSuffixes(done, inner.start, rows);
        rows.addWords(this.#bitmaps, this.#ranges.numberOf(inner.start, inner.end) * wordCount);
        done = inner.end;
      }
      this.#addSuffixes(done, end, rows);
      rows.writeWords(this.#bitmaps, i * wordCount);
    }
  }

  /** The same for rows in another order. placeOf  by row: its place in that order */
  reordered(placeOf: Uint16Array): TermIndex {
    const postings = new Uint16Array(this.#postings.length);
    for (let i = 0; i < postings.length; i++) postings[i] = placeOf[this.#postings[i]!]!;
    return new TermIndex(this.#order, this.#rowCount, this.#postingOffsets, postings);
  }

  /** Words of all bitmaps. */
  get bitmapsLength(): number {
    return this.#ranges.size * this.#wordCount;
  }

  /** Puts the bitmaps into `words` from `start` on, among others that questions look at together with them (bitset.ts). */
  moveBitmaps(words: Int32Array, start: number): void {
    words.set(this.#bitmaps.subarray(this.#bitmapsStart, this.#bitmapsStart + this.bitmapsLength), start);
    this.#bitmaps = words;
    this.#bitmapsStart = start;
  }

  /** Where a term lies, which has no blank and is not empty; `undefined` when it lies in no token. */
  find(term: string): FoundTerm | undefined {
    const { length } = term;
    const { firstWith, firstWithPair, rankOf } = this.#order;
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

  /** Makes `rows`, a set of the cohort's rows, those of a term that was found here. */
  writeRows(found: FoundTerm, rows: BitSet): void {
    if (found.wordsStart >= 0) rows.readWords(found.words, [found.wordsStart]);
    else {
      rows.clear();
      this.#addSuffixes(found.start, found.end, rows);
    }
  }

  /** Rows of token after token; not to be modified. */
  get postings(): Uint16Array {
    return this.#postings;
  }

  /** Where the rows of a term start in `postings` when it lies in one token alone, whose rows they are; else -1. */
  postingsStartOf({ end, start }: FoundTerm): number {
    return end - start === 1 ? this.#postingOffsets[this.#order.tokenOf[start]!]! : -1;
  }

  /**
   * Writes the rows of a term into `into`, each once, in no order; `scratch` is a set of the cohort's rows.
   * returns  the number written, at most the term's `rowCountMax`
   */
  listRows({ end, start }: FoundTerm, into: Uint16Array, scratch: BitSet): number {
    const { tokenOf } = this.#order;
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
        // Counted when the row is new: a row may have several of the tokens.
        into[count] = row;
        count += (~word >>> (row & 31)) & 1;
      }
    }
    return count;
  }

  #addSuffixes(start: number, end: number, into: BitSet): void {
    const { tokenOf } = this.#order;
    const offsets = this.#postingOffsets;
    for (let i = start; i < end; i++) {
      const token = tokenOf[i]!;
      into.addFrom(this.#postings, offsets[token]!, offsets[token + 1]!);
    }
  }

  /**
   * In `from .. to`, whose suffixes begin with the first `known` of `#ranks`: the place of the first suffix that does not come before
   * the first `length` of them.
   */
  #firstNotBefore(known: number, length: number, from: number, to: number): number {
    const { suffixes, text } = this.#order;
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

  /** The same, where the first suffix begins with those `length` ranks: the place of the first that does not, or `to`. */
  #firstWithout(known: number, length: number, from: number, to: number): number {
    // Most terms lie in a few suffixes, so steps that double get there sooner than halving all that follow.
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

  #beginsWith(place: number, known: number, length: number): boolean {
    const { suffixes, text } = this.#order;
    const ranks = this.#ranks;
    const at = suffixes[place]!;
    for (let i = known; i < length; i++) if (text[at + i] !== ranks[i]) return false;
    return true;
  }
}

/** Suffixes that begin alike, and all that do. */
interface SuffixRange {
  readonly start: number;
  readonly end: number;
  /** Ranks that its suffixes are known to share; none of them ends before. */
  readonly depth: number;
  /** Those of the ranges in it that are in no other one in it, in order. */
  readonly inside: SuffixRange[];
}

/** Numbers of ranges, which are their places in a list, in an open-addressed hash table. */
class RangeNumbers {
  readonly size: number;
  /** Start, end and number of a range in each slot; an end of 0 is a free slot. A power of two of slots, at most half full. */
  readonly #slots: Uint32Array;
  readonly #mask: number;

  constructor(ranges: readonly SuffixRange[]) {
    this.size = ranges.length;
    const slotCount = 2 ** Math.ceil(Math.log2(2 * ranges.length + 1));
    this.#mask = slotCount - 1;
    this.#slots = new Uint32Array(slotCount * 3);
    for (const [number, { end, start }] of ranges.entries()) {
      let slot = this.#firstSlotOf(start, end);
      while (this.#slots[slot * 3 + 1] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots.set([start, end, number], slot * 3);
    }
  }

  /** Of a range that is in the list. */
  numberOf(start: number, end: number): number {
    const slots = this.#slots;
    let slot = this.#firstSlotOf(start, end);
    while (slots[slot * 3] !== start || slots[slot * 3 + 1] !== end) slot = (slot + 1) & this.#mask;
    return slots[slot * 3 + 2]!;
  }

  #firstSlotOf(start: number, end: number): number {
    const hash = Math.imul(start, 0x2c1b3c6d) ^ Math.imul(end, 0x01000193);
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

/**
 * The ranges of suffixes with more than `postingsMax` postings that a term can lie in, outer ones first: what begins with
 * one rank, of that what goes on with one rank, and so on. `undefined` when they are more than TERM_BITMAPS_MAX.
 * postingSums  postings of the suffixes before each place
 */
function frequentRanges(
  { firstWith, suffixes, text }: SuffixOrder,
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
  // Ranges are added on the way.
  for (const { depth, end, inside, start } of ranges) {
    if (ranges.length > TERM_BITMAPS_MAX) return undefined;
    if (end - start === 1) continue;
    let shared = depth;
    const rankAt = (place: number): number => text[suffixes[place]! + shared]!;
    // As long as all go on alike, none ends, and the range stays the same.
    while (rankAt(start) !== 0 && rankAt(start) === rankAt(end - 1)) shared++;
    for (let from = start, to = start; from < end; from = to) {
      const rank = rankAt(from);
      // Steps that double until one is too far, then halving between the last two.
      let step = 1;
      while (from + step < end && rankAt(from + step) === rank) step *= 2;
      let last = from + (step >>> 1);
      to = Math.min(from + step, end);
      while (last + 1 < to) {
        const middle = (last + to) >>> 1;
        if (rankAt(middle) === rank) last = middle;
        else to = middle;
      }
      // Suffixes that end here are what the range has besides those inside.
      if (rank !== 0) add(from, to, shared + 1, inside);
    }
  }
  return ranges;
}

/**
 * All suffixes of all tokens in order of their ranks. As many leading ranks as fit are packed above the place into one
 * whole number, so that the first sort is a native one over doubles; groups that are still equal and longer than that
 * are split by doubling (Larsson and Sadakane): the order of what follows the known part is known already.
 * starts  where each token starts; a token ends one before the next starts
 */
function suffixesInOrder(text: Uint16Array, starts: Uint32Array, rankCount: number): Uint32Array {
  const placeBits = Math.max(1, 32 - Math.clz32(text.length));
  const rankBits = Math.max(1, 32 - Math.clz32(rankCount));
  const placeSpan = 2 ** placeBits;
  const rankSpan = 2 ** rankBits;
  const packedRanks = Math.max(1, Math.floor((53 - placeBits) / rankBits));

  const keys = new Float64Array(text.length - (starts.length - 1));
  let count = 0;
  const highest = rankSpan ** (packedRanks - 1);
  for (let token = 0; token + 1 < starts.length; token++) {
    // From the end of the token: a suffix's ranks are its first one and those of the next suffix but its last.
    let packed = 0;
    for (let place = starts[token + 1]! - 2; place >= starts[token]!; place--) {
      packed = text[place]! * highest + Math.floor(packed / rankSpan);
      keys[count++] = packed * placeSpan + place;
    }
  }
  keys.sort();

  const order = new Uint32Array(count);
  /** The end of a place's group in the order so far; 0 where a token ends, which comes before everything. */
  const groupOf = new Uint32Array(text.length);
  const remaining = new Uint32Array(text.length);
  for (let token = 0; token + 1 < starts.length; token++) {
    const end = starts[token + 1]! - 1;
    for (let place = starts[token]!; place < end; place++) remaining[place] = end - place;
  }
  /** Starts and ends of groups of suffixes that begin alike, as far as is known, and of which none has ended yet. */
  let open: number[] = [];
  const close = (start: number, end: number, known: number, into: number[]): void => {
    for (let i = start; i < end; i++) groupOf[order[i]!] = end;
    if (end - start > 1 && remaining[order[start]!]! >= known) into.push(start, end);
  };
  for (let i = 0, start = 0; i < count; i++) {
    order[i] = keys[i]! % placeSpan;
    const last = i + 1 === count || Math.floor(keys[i + 1]! / placeSpan) !== Math.floor(keys[i]! / placeSpan);
    if (!last) continue;
    close(start, i + 1, packedRanks, open);
    start = i + 1;
  }
  for (let known = packedRanks; open.length > 0; known *= 2) {
    const next: number[] = [];
    for (let g = 0; g < open.length; g += 2) {
      const start = open[g]!;
      const end = open[g + 1]!;
      const group = keys.subarray(start, end);
      for (let i = start; i < end; i++) group[i - start] = groupOf[order[i]! + known]! * placeSpan + order[i]!;
      group.sort();
      for (let i = start; i < end; i++) order[i] = group[i - start]! % placeSpan;
      for (let i = start, first = start; i < end; i++) {
        const here = Math.floor(group[i - start]! / placeSpan);
        if (i + 1 < end && Math.floor(group[i - start + 1]! / placeSpan) === here) continue;
        close(first, i + 1, known * 2, next);
        first = i + 1;
      }
    }
    open = next;
  }
  return order;
}
