/**
 * Which rows of a cohort hold a term (decisions §3, "Order, cohort, matching"). A term has no blank, so it lies inside
 * a text exactly when it lies inside one of the text's tokens, and tokens repeat: the index is over the distinct
 * tokens, which are a few per cent of the text. A suffix array over them finds every token that a term lies in, posting
 * lists give the rows of each token, bitmaps those of the frequent ones.
 *
 * Cost of a term: two binary searches (20 to 30 steps), then one step a posting, or one a word of the bitmaps: of a frequent
 * token, of a block of neighbouring suffixes, of a first letter. The index is built
 * once a cohort and field group.
 *
 * Measured with bench/peers/queries.ts (a million synthetic jobs, cohort of 10000; 2-core shared virtual machine under load,
 * Node 26.10.0 / Bun 1.4.5, processor time in µs, before and after blocks, first letters and rarest first):
 *
 *   signals, three role terms and a place    34 / 31 -> 20 / 23     one letter     343 / 268 -> 23 / 26
 *   signals, eight role terms and a place   405 / 325 -> 42 / 27    one term       22 / 25 -> 24 / 23
 */
import { BitSet } from '../base/bitset.ts';
import { INDEX_UNITS_MAX, SUFFIX_BLOCK_MIN, SUFFIX_BLOCKS_MAX } from './limits.ts';

/** The compared texts (terms.ts) of one field for the rows of a cohort. */
export interface IndexedField {
  /** Distinct as far as that is cheap: each is taken apart once. */
  readonly texts: readonly string[];
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
      for (const token of texts[i]!.split(' ')) {
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
  return new TermIndex([...vocabulary.keys()], unitCount, rowCount, postingOffsets, postings);
}

/** Where a term lies in an index: a run of its suffixes. */
export interface FoundTerm {
  readonly index: TermIndex;
  readonly start: number;
  readonly end: number;
  /** At most this many rows hold it. */
  readonly rowCountMax: number;
  /** The term's only rank, or 0 when it has several. */
  readonly onlyRank: number;
}

export class TermIndex {
  /** Tokens one after another as ranks of code units, 0 after each. */
  readonly #text: Uint16Array;
  /** Rank of a code unit, 1 and up in order of units; 0 or nothing = in no token. */
  readonly #rankOf: Uint16Array;
  /** Places in the text of every suffix of every token, in order of their ranks; equal ones in any order. */
  readonly #suffixes: Uint32Array;
  /** The token of each suffix, in the same order. */
  readonly #tokenOf: Uint32Array;
  /** Where the suffixes that begin with a rank start; one more element than there are ranks, 0 included. */
  readonly #firstWith: Uint32Array;
  /** Postings of the suffixes before each place; one more element than there are suffixes. */
  readonly #postingSums: Float64Array;
  readonly #postingOffsets: Uint32Array;
  /** Rows of token after token, ascending in each. */
  readonly #postings: Uint16Array;

  /** Where the bitmap of a token starts in `#bitmaps`, plus 1; 0 = the token has a posting list alone. */
  readonly #bitmapOf: Uint32Array;
  /** Rows of the frequent tokens as bits, in 32-bit words: those with more rows than a bitmap has words. */
  readonly #bitmaps: Int32Array;

  /** 32-bit words of a set of the cohort's rows. */
  readonly #wordCount: number;
  /** Suffixes of one block; a power of two, so that a place is divided by a shift. */
  readonly #blockBits: number;
  /** Rows of every whole block of suffixes as bits: a short term lies in thousands of suffixes. */
  readonly #blocks: Int32Array;
  /** Where the bitmap of a first rank starts in `#rankBitmaps`, plus 1; 0 = its suffixes are too few for one. */
  readonly #rankBitmapOf: Uint32Array;
  /** Rows of the suffixes that begin with a rank, as bits: what a term of one letter asks for. */
  readonly #rankBitmaps: Int32Array;

  constructor(
    tokens: readonly string[],
    unitCount: number,
    rowCount: number,
    postingOffsets: Uint32Array,
    postings: Uint16Array,
  ) {
    this.#postingOffsets = postingOffsets;
    this.#postings = postings;
    const wordCount = (rowCount + 31) >>> 5;
    const bitmapOf = new Uint32Array(tokens.length);
    let bitmapWords = 0;
    for (let token = 0; token < tokens.length; token++) {
      if (postingOffsets[token + 1]! - postingOffsets[token]! <= wordCount) continue;
      bitmapOf[token] = bitmapWords + 1;
      bitmapWords += wordCount;
    }
    const bitmaps = new Int32Array(bitmapWords);
    for (let token = 0; token < tokens.length; token++) {
      const bitmap = bitmapOf[token]!;
      if (bitmap === 0) continue;
      for (let i = postingOffsets[token]!; i < postingOffsets[token + 1]!; i++) {
        const word = bitmap - 1 + (postings[i]! >>> 5);
        bitmaps[word] = bitmaps[word]! | (1 << (postings[i]! & 31));
      }
    }
    this.#bitmapOf = bitmapOf;
    this.#bitmaps = bitmaps;
    const units = new Uint16Array(unitCount);
    const starts = new Uint32Array(tokens.length + 1);
    let end = 0;
    let largest = 0;
    for (let token = 0; token < tokens.length; token++) {
      const text = tokens[token]!;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (unit > largest) largest = unit;
        units[end++] = unit;
      }
      starts[token + 1] = ++end;
    }
    // No token has a blank in it, so there are at most 65535 ranks, and they fit beside the 0.
    const rankOf = new Uint16Array(largest + 1);
    for (let token = 0; token < tokens.length; token++) {
      for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) rankOf[units[i]!] = 1;
    }
    let rankCount = 0;
    for (let unit = 0; unit <= largest; unit++) if (rankOf[unit] !== 0) rankOf[unit] = ++rankCount;
    for (let token = 0; token < tokens.length; token++) {
      for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) units[i] = rankOf[units[i]!]!;
    }
    // What separates tokens was left 0; a token may hold U+0000, which has a rank of its own.
    const suffixes = suffixesInOrder(units, starts, rankCount);
    const tokenAt = new Uint32Array(unitCount);
    for (let token = 0; token < tokens.length; token++) tokenAt.fill(token, starts[token]!, starts[token + 1]!);
    const firstWith = new Uint32Array(rankCount + 2);
    for (const suffix of suffixes) {
      const place = units[suffix]! + 1;
      firstWith[place] = firstWith[place]! + 1;
    }
    for (let rank = 1; rank < firstWith.length; rank++) firstWith[rank] = firstWith[rank]! + firstWith[rank - 1]!;
    this.#text = units;
    this.#rankOf = rankOf;
    this.#suffixes = suffixes;
    this.#tokenOf = suffixes.map((suffix) => tokenAt[suffix]!);
    this.#firstWith = firstWith;
    const postingSums = new Float64Array(suffixes.length + 1);
    for (let i = 0; i < suffixes.length; i++) {
      const token = this.#tokenOf[i]!;
      postingSums[i + 1] = postingSums[i]! + postingOffsets[token + 1]! - postingOffsets[token]!;
    }
    this.#postingSums = postingSums;

    const blockLength = Math.max(SUFFIX_BLOCK_MIN, Math.ceil(suffixes.length / SUFFIX_BLOCKS_MAX));
    this.#wordCount = wordCount;
    this.#blockBits = 32 - Math.clz32(blockLength - 1);
    this.#blocks = new Int32Array((suffixes.length >>> this.#blockBits) * wordCount);
    const scratch = new BitSet(rowCount);
    for (let block = 0; block < suffixes.length >>> this.#blockBits; block++) {
      scratch.clear();
      this.#addSuffixes(block << this.#blockBits, (block + 1) << this.#blockBits, scratch);
      scratch.writeWords(this.#blocks, block * wordCount);
    }
    this.#rankBitmapOf = new Uint32Array(rankCount + 1);
    const frequent: number[] = [];
    for (let rank = 1; rank <= rankCount; rank++) {
      if (firstWith[rank + 1]! - firstWith[rank]! > blockLength) frequent.push(rank);
    }
    this.#rankBitmaps = new Int32Array(frequent.length * wordCount);
    for (const [place, rank] of frequent.entries()) {
      scratch.clear();
      this.#addRange(firstWith[rank]!, firstWith[rank + 1]!, scratch);
      scratch.writeWords(this.#rankBitmaps, place * wordCount);
      this.#rankBitmapOf[rank] = place * wordCount + 1;
    }
  }

  /** Where a term lies, which has no blank and is not empty; `undefined` when it lies in no token. */
  find(term: string): FoundTerm | undefined {
    const ranks = this.#ranksOf(term);
    if (ranks === undefined) return undefined;
    const first = this.#firstWith[ranks[0]!]!;
    const past = this.#firstWith[ranks[0]! + 1]!;
    const start = ranks.length === 1 ? first : this.#firstNotBefore(ranks, first, past, 0);
    const end = ranks.length === 1 ? past : this.#firstNotBefore(ranks, start, past, 1);
    if (start === end) return undefined;
    return {
      index: this,
      start,
      end,
      rowCountMax: this.#postingSums[end]! - this.#postingSums[start]!,
      onlyRank: ranks.length === 1 ? ranks[0]! : 0,
    };
  }

  /** Adds the rows of a term that was found here. */
  addRows({ onlyRank, start, end }: FoundTerm, into: BitSet): void {
    const rankBitmap = this.#rankBitmapOf[onlyRank]!;
    if (rankBitmap !== 0) into.addWords(this.#rankBitmaps, rankBitmap - 1);
    else this.#addRange(start, end, into);
  }

  /** Keeps the rows that the term is in, in `matching`; `scratch` is a set of the same length. Says whether any is left. */
  keepRows(found: FoundTerm, matching: BitSet, scratch: BitSet): boolean {
    const rankBitmap = this.#rankBitmapOf[found.onlyRank]!;
    if (rankBitmap !== 0) return matching.intersectWords(this.#rankBitmaps, rankBitmap - 1);
    if (found.end - found.start === 1) {
      const bitmap = this.#bitmapOf[this.#tokenOf[found.start]!]!;
      if (bitmap !== 0) return matching.intersectWords(this.#bitmaps, bitmap - 1);
    }
    scratch.clear();
    this.#addRange(found.start, found.end, scratch);
    return matching.intersect(scratch);
  }

  /** Adds the rows that hold `term`, which has no blank and is not empty. */
  addRowsWith(term: string, into: BitSet): void {
    const found = this.find(term);
    if (found !== undefined) this.addRows(found, into);
  }

  #addRange(start: number, end: number, into: BitSet): void {
    const bits = this.#blockBits;
    const firstBlock = (start + (1 << bits) - 1) >>> bits;
    const pastBlock = end >>> bits;
    if (firstBlock >= pastBlock) {
      this.#addSuffixes(start, end, into);
      return;
    }
    this.#addSuffixes(start, firstBlock << bits, into);
    for (let block = firstBlock; block < pastBlock; block++) into.addWords(this.#blocks, block * this.#wordCount);
    this.#addSuffixes(pastBlock << bits, end, into);
  }

  #addSuffixes(start: number, end: number, into: BitSet): void {
    const offsets = this.#postingOffsets;
    for (let i = start; i < end; i++) {
      const token = this.#tokenOf[i]!;
      const bitmap = this.#bitmapOf[token]!;
      if (bitmap === 0) into.addFrom(this.#postings, offsets[token]!, offsets[token + 1]!);
      else into.addWords(this.#bitmaps, bitmap - 1);
    }
  }

  #ranksOf(term: string): number[] | undefined {
    const ranks: number[] = [];
    for (let i = 0; i < term.length; i++) {
      const rank = this.#rankOf[term.charCodeAt(i)] ?? 0;
      if (rank === 0) return undefined;
      ranks.push(rank);
    }
    return ranks;
  }

  /**
   * In `low .. high`, whose suffixes share the first rank: the place of the first suffix that does not come before the
   * term (`past` 0), or of the first that neither does so nor begins with it (`past` 1).
   */
  #firstNotBefore(ranks: number[], from: number, to: number, past: 0 | 1): number {
    const text = this.#text;
    const suffixes = this.#suffixes;
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = suffixes[middle]!;
      let i = 1;
      // A token ends with 0, which equals no rank of a term, so this stops at the end of the token.
      while (i < ranks.length && text[at + i] === ranks[i]) i++;
      const before = i === ranks.length ? past === 1 : text[at + i]! < ranks[i]!;
      if (before) low = middle + 1;
      else high = middle;
    }
    return low;
  }
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
