/**
 * A suffix array over the distinct tokens of an index: every place where a term can start, sorted, so that the suffixes
 * that begin with a term form one run. Tables over the first one and two code units narrow the search for that run.
 */

export interface SuffixArray {
  /** Tokens one after another, their code units as ranks, 0 after each. */
  readonly text: Uint16Array;
  /** By code unit: its rank, 1 and up in order of units; 0 or past the end = in no token. */
  readonly rankOf: Uint16Array;
  /** Where in `text` each suffix of each token starts, in order of the suffixes; equal ones in any order. */
  readonly suffixes: Uint32Array;
  /** Number of the token that each suffix ends, in the same order. */
  readonly tokenOf: Uint32Array;
  /** By rank: the index of the first suffix that begins with it; one more element than there are ranks, 0 included. */
  readonly firstWith: Uint32Array;
  /**
   * Element r * (ranks + 1) + s: the index of the first suffix that begins with rank r followed by s, where s = 0 means
   * that the suffix ends; `ranks` does not count 0. The run ends where the next element's starts. Empty if the array
   * would be longer than the list of suffixes.
   */
  readonly firstWithPair: Uint32Array;
}

/** @param unitCount code units of all tokens, and one more for each */
export function buildSuffixArray(tokens: readonly string[], unitCount: number): SuffixArray {
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
  // No token contains a blank, so there are at most 65535 ranks, and they fit beside the 0.
  const rankOf = new Uint16Array(largest + 1);
  for (let token = 0; token < tokens.length; token++) {
    for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) rankOf[text[i]!] = 1;
  }
  let rankCount = 0;
  for (let unit = 0; unit <= largest; unit++) if (rankOf[unit] !== 0) rankOf[unit] = ++rankCount;
  for (let token = 0; token < tokens.length; token++) {
    for (let i = starts[token]!; i < starts[token + 1]! - 1; i++) text[i] = rankOf[text[i]!]!;
  }
  // The separators stay 0: a U+0000 inside a token has a rank like any other unit.
  const suffixes = sortedSuffixes(text, starts, rankCount);
  const tokenAt = new Uint32Array(unitCount);
  for (let token = 0; token < tokens.length; token++) tokenAt.fill(token, starts[token]!, starts[token + 1]!);
  const firstWith = new Uint32Array(rankCount + 2);
  for (const suffix of suffixes) {
    const place = text[suffix]! + 1;
    firstWith[place] = firstWith[place]! + 1;
  }
  for (let rank = 1; rank < firstWith.length; rank++) firstWith[rank] = firstWith[rank]! + firstWith[rank - 1]!;
  const tokenOf = suffixes.map((suffix) => tokenAt[suffix]!);
  return { text, rankOf, suffixes, tokenOf, firstWith, firstWithPair: firstWithPairOf(text, suffixes, rankCount) };
}

function firstWithPairOf(text: Uint16Array, suffixes: Uint32Array, rankCount: number): Uint32Array {
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

/**
 * All suffixes of all tokens in order of their ranks. The first sort packs the suffix's start, and above it as many
 * leading ranks as fit, into one whole number, so that a native sort of doubles does it. Groups equal in all packed
 * ranks are split by doubling (Larsson and Sadakane): the order of what follows the known part is already known.
 * @param starts where each token starts; a token ends one before the next starts
 */
function sortedSuffixes(text: Uint16Array, starts: Uint32Array, rankCount: number): Uint32Array {
  const startBits = Math.max(1, 32 - Math.clz32(text.length));
  const rankBits = Math.max(1, 32 - Math.clz32(rankCount));
  const startSpan = 2 ** startBits;
  const rankSpan = 2 ** rankBits;
  const packedRanks = Math.max(1, Math.floor((53 - startBits) / rankBits));

  const keys = new Float64Array(text.length - (starts.length - 1));
  let count = 0;
  const highest = rankSpan ** (packedRanks - 1);
  for (let token = 0; token + 1 < starts.length; token++) {
    // From the end of the token: the ranks of a suffix are its first one, then those of the suffix behind it without the last.
    let packed = 0;
    for (let place = starts[token + 1]! - 2; place >= starts[token]!; place--) {
      packed = text[place]! * highest + Math.floor(packed / rankSpan);
      keys[count++] = packed * startSpan + place;
    }
  }
  keys.sort();

  const order = new Uint32Array(count);
  /** By start of a suffix: the end of its group in the order so far; 0 where a token ends, which comes before everything. */
  const groupOf = new Uint32Array(text.length);
  /** By start of a suffix: its length. */
  const remaining = new Uint32Array(text.length);
  for (let token = 0; token + 1 < starts.length; token++) {
    const end = starts[token + 1]! - 1;
    for (let place = starts[token]!; place < end; place++) remaining[place] = end - place;
  }
  /**
   * Starts and ends of groups that must still be split: their suffixes agree in all ranks compared so far, and none
   * ends there.
   */
  let open: number[] = [];
  const close = (start: number, end: number, known: number, into: number[]): void => {
    for (let i = start; i < end; i++) groupOf[order[i]!] = end;
    if (end - start > 1 && remaining[order[start]!]! >= known) into.push(start, end);
  };
  for (let i = 0, start = 0; i < count; i++) {
    order[i] = keys[i]! % startSpan;
    const last = i + 1 === count || Math.floor(keys[i + 1]! / startSpan) !== Math.floor(keys[i]! / startSpan);
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
      for (let i = start; i < end; i++) group[i - start] = groupOf[order[i]! + known]! * startSpan + order[i]!;
      group.sort();
      for (let i = start; i < end; i++) order[i] = group[i - start]! % startSpan;
      for (let i = start, first = start; i < end; i++) {
        const here = Math.floor(group[i - start]! / startSpan);
        if (i + 1 < end && Math.floor(group[i - start + 1]! / startSpan) === here) continue;
        close(first, i + 1, known * 2, next);
        first = i + 1;
      }
    }
    open = next;
  }
  return order;
}
