/** The words of one set inside an array of many, laid out as in {@link BitSet}; it starts at `words[wordsStart]`. */
export interface WordRun {
  readonly words: Int32Array;
  readonly wordsStart: number;
}

/**
 * A set of small whole numbers, one bit each, in 32-bit words. Numbers run from 0 to `length - 1`; bits past `length`
 * in the last word are always 0, so whole words can be compared and counted.
 */
export class BitSet implements WordRun {
  /** Members are numbers from 0 to length - 1. */
  readonly length: number;
  /** Member n is bit n % 32 of word n / 32. Words are signed, as bitwise operators give them. Public for loops. */
  readonly words: Int32Array;
  readonly wordsStart = 0;

  constructor(length: number) {
    this.length = length;
    this.words = new Int32Array((length + 31) >>> 5);
  }

  /** Adds a number below `length`. */
  add(member: number): void {
    const word = member >>> 5;
    this.words[word] = this.words[word]! | (1 << (member & 31));
  }

  /** Adds `members[start .. end - 1]`, each below `length`. */
  addFrom(members: Uint16Array, start: number, end: number): void {
    const words = this.words;
    for (let i = start; i < end; i++) {
      const member = members[i]!;
      words[member >>> 5] = words[member >>> 5]! | (1 << (member & 31));
    }
  }

  /** Adds the members of `words[start ..]`, laid out as in this class and as long as a set of this length. */
  addWords(words: Int32Array, start: number): void {
    const into = this.words;
    for (let i = 0; i < into.length; i++) into[i] = into[i]! | words[start + i]!;
  }

  /**
   * Replaces the members by the intersection of the sets that start in `words` at `starts`.
   * @param starts at least one
   * @returns false when the intersection is empty; always true for a single set, which is copied unread
   */
  readWords(words: Int32Array, starts: readonly number[]): boolean {
    const into = this.words;
    const { length } = into;
    const first = starts[0]!;
    if (starts.length === 1) {
      into.set(words.subarray(first, first + length));
      return true;
    }
    // All sets lie in one array, so that its address and length stay in registers; several arrays make the loop much slower.
    const b = starts[1]!;
    const c = starts[2] ?? first;
    const d = starts[3] ?? first;
    let any = 0;
    for (let i = 0; i < length; i++) {
      const word = words[first + i]! & words[b + i]! & words[c + i]! & words[d + i]!;
      into[i] = word;
      any |= word;
    }
    for (let next = 4; any !== 0 && next < starts.length; next++)
      any = this.intersectWords(words, starts[next]!) ? 1 : 0;
    return any !== 0;
  }

  /** Writes the set's words into `into[start ..]`. */
  writeWords(into: Int32Array, start: number): void {
    into.set(this.words, start);
  }

  /** Keeps the members that `words[start ..]` has too, laid out as for `addWords`. @returns whether any is left */
  intersectWords(words: Int32Array, start: number): boolean {
    const into = this.words;
    const length = into.length;
    let any = 0;
    let i = 0;
    // Unrolled by four, which is measurably faster than the plain loop.
    for (; i + 3 < length; i += 4) {
      const first = into[i]! & words[start + i]!;
      const second = into[i + 1]! & words[start + i + 1]!;
      const third = into[i + 2]! & words[start + i + 2]!;
      const fourth = into[i + 3]! & words[start + i + 3]!;
      into[i] = first;
      into[i + 1] = second;
      into[i + 2] = third;
      into[i + 3] = fourth;
      any |= first | second | third | fourth;
    }
    for (; i < length; i++) {
      const both = into[i]! & words[start + i]!;
      into[i] = both;
      any |= both;
    }
    return any !== 0;
  }

  /** Number of members. */
  get count(): number {
    const words = this.words;
    let count = 0;
    for (let i = 0; i < words.length; i++) if (words[i] !== 0) count += bitCountOf(words[i]!);
    return count;
  }

  /** Number of members from `start` to `end - 1` that `other`, a set of the same length, has too. */
  countOfBoth(other: BitSet, start: number, end: number): number {
    const words = this.words;
    const others = other.words;
    let count = 0;
    for (let i = start >>> 5; i << 5 < end; i++) {
      let both = words[i]! & others[i]!;
      if (i << 5 < start) both &= -1 << (start & 31);
      if (end - (i << 5) < 32) both &= (1 << (end & 31)) - 1;
      if (both !== 0) count += bitCountOf(both);
    }
    return count;
  }

  clear(): void {
    this.words.fill(0);
  }

  fill(): void {
    this.words.fill(-1);
    const past = this.length & 31;
    if (past !== 0) this.words[this.words.length - 1] = 2 ** past - 1;
  }

  /** The `limit` smallest members, ascending; all of them when there are fewer. */
  first(limit: number): number[] {
    const words = this.words;
    const members: number[] = [];
    for (let i = 0; i < words.length; i++) {
      let word = words[i]!;
      while (word !== 0) {
        if (members.length === limit) return members;
        const lowest = word & -word;
        members.push((i << 5) + 31 - Math.clz32(lowest));
        word ^= lowest;
      }
    }
    return members;
  }
}

/** Number of 1 bits in a 32-bit word: sums of neighbouring bits, pairs and nibbles, then of the four bytes. */
export function bitCountOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/**
 * Writes into `into`, in order, those of `numbers[start] .. numbers[start + count - 1]` that are members of the set at
 * `words[wordsStart ..]`, laid out as in {@link BitSet}.
 * @param into at least `count` long; may be `numbers` itself when `start` is 0
 * @returns the number written
 */
export function keepMembers(
  words: Int32Array,
  wordsStart: number,
  numbers: Uint16Array,
  start: number,
  count: number,
  into: Uint16Array,
): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[start + i]!;
    // Branch-free: always write, advance on a match. A branch would be mispredicted every few numbers.
    into[kept] = number;
    kept += (words[wordsStart + (number >>> 5)]! >>> (number & 31)) & 1;
  }
  return kept;
}

/**
 * Writes into `into` the `limit` smallest members of the intersection of several sets, ascending; all of them when there are
 * fewer. It reads every word of the first four sets, which should be those with the fewest members, and words of the others
 * only where the first four have common members. The sets lie in one array because several arrays are much slower.
 * @param words holds the sets, `wordCount` words each
 * @param starts where each set starts in `words`; at least one
 * @returns the number written
 */
export function writeFirstOfAll(
  words: Int32Array,
  starts: readonly number[],
  wordCount: number,
  limit: number,
  into: Uint16Array,
): number {
  const a = starts[0]!;
  const b = starts[1] ?? a;
  const c = starts[2] ?? a;
  const d = starts[3] ?? a;
  let written = 0;
  for (let i = 0; i < wordCount; i++) {
    let word = words[a + i]! & words[b + i]! & words[c + i]! & words[d + i]!;
    if (word === 0) continue;
    for (let s = 4; s < starts.length && word !== 0; s++) word &= words[starts[s]! + i]!;
    while (word !== 0) {
      if (written === limit) return written;
      const lowest = word & -word;
      into[written++] = (i << 5) + 31 - Math.clz32(lowest);
      word ^= lowest;
    }
  }
  return written;
}
