/**
 * Finds the rows that meet every condition of a question, newest first, chunk after chunk, and stops once enough are counted.
 * In a chunk the matches are a list while they are few, else a bitmap; the condition with the fewest rows comes first, so that
 * the others see few.
 *
 * Cost: for each chunk and condition about a microsecond for 65,536 rows, however many of them match (merged-ranges.ts bounds
 * what a condition is united from).
 */
import { bitCountOf } from '../../base/bitset.ts';
import type { RowSets } from './row-sets.ts';
import type { RowUnion } from './row-union.ts';
import { CHUNK_ROWS, CHUNK_WORDS, LISTED_ROWS } from './sections.ts';

/** The rows from `start` to `end - 1`. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** How many rows a question needs. */
export interface Wanted {
  /** Rows that are listed. */
  readonly rows: number;
  /** Counting may stop past this number. */
  readonly count: number;
}

export interface FoundRows {
  /** The first rows, ascending, so newest first. */
  readonly rows: number[];
  /** How many match; counting stops somewhere past the number asked for. */
  readonly count: number;
}

/** Rows that are marked and unmarked in the time in which one row is looked up in one list. */
const SEARCH_STEPS = 12;

/** The first place from `from` on whose row is at least `row`. @param rows ascending */
export function placeOfRow(rows: Uint32Array, row: number, from: number): number {
  let low = from;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the ascending `members[start] .. members[end - 1]` have a member. */
export function hasMember(members: Uint16Array | Uint32Array, start: number, end: number, member: number): boolean {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (members[middle]! < member) low = middle + 1;
    else high = middle;
  }
  return low < end && members[low] === member;
}

/** A finder owns the memory that its questions overwrite, one at a time. */
export class RowFinder {
  readonly #sets: RowSets;
  /** Matches of the current chunk: the first `#listed` of the list, or where `#listed` is -1 the bitmap at `#words[#start]`. */
  readonly #list = new Uint16Array(CHUNK_ROWS);
  #listed = 0;
  #words: Int32Array;
  #start = 0;
  readonly #own = new Int32Array(CHUNK_WORDS);
  /** A condition's rows in the current chunk; all zero between its uses as marks. */
  readonly #union = new Int32Array(CHUNK_WORDS);
  readonly #marks = new Int32Array(CHUNK_WORDS);
  /** Of the current condition and chunk: where its bitmaps start, and rows of its lists, repeats counted. */
  readonly #bitmapStarts: number[] = [];
  #listedRows = 0;
  /** Where the further rows of the current condition are that lie in the current chunk. */
  #rowsStart = 0;
  #rowsEnd = 0;
  /** Their places in the chunk, while a list of them is needed. */
  readonly #places = new Uint16Array(CHUNK_ROWS);

  constructor(sets: RowSets) {
    this.#sets = sets;
    this.#words = this.#own;
  }

  /**
   * The rows of a range that meet every condition.
   * @param conditions at least one
   * @param wanted how many rows are listed, and past which number counting may stop
   */
  find(conditions: readonly RowUnion[], { end, start }: RowRange, wanted: Wanted): FoundRows {
    const ordered = [...conditions].sort((a, b) => a.rowCountMax - b.rowCountMax);
    const rows: number[] = [];
    let count = 0;
    for (let chunk = start >>> 16; chunk * CHUNK_ROWS < end && count <= wanted.count; chunk++) {
      if (!this.#startWith(ordered[0]!, chunk)) continue;
      let isAny = true;
      for (let i = 1; isAny && i < ordered.length; i++) isAny = this.#keep(ordered[i]!, chunk);
      if (!isAny) continue;
      const first = chunk * CHUNK_ROWS;
      if (start > first) this.#keepFrom(start - first);
      if (end - first < CHUNK_ROWS) this.#keepBelow(end - first);
      count += this.#count();
      if (rows.length < wanted.rows) this.#take(first, wanted.rows, rows);
    }
    return { rows, count };
  }

  /** Looks up where a condition's rows in a chunk are. @returns an upper bound of their number */
  #look({ rows: ownRows, sets, starts }: RowUnion, chunk: number): number {
    const bitmaps = this.#bitmapStarts;
    bitmaps.length = 0;
    let listed = starts.length === 0 ? 0 : starts[chunk + 1]! - starts[chunk]!;
    let rows = listed;
    for (let i = 0; i < sets.length; i++) {
      const count = this.#sets.countIn(sets[i]!, chunk);
      rows += count;
      if (count >= LISTED_ROWS) bitmaps.push(this.#sets.placeIn(sets[i]!, chunk));
      else listed += count;
    }
    this.#rowsStart = 0;
    this.#rowsEnd = 0;
    if (ownRows.length > 0) {
      this.#rowsStart = placeOfRow(ownRows, chunk * CHUNK_ROWS, 0);
      this.#rowsEnd = placeOfRow(ownRows, (chunk + 1) * CHUNK_ROWS, this.#rowsStart);
      listed += this.#rowsEnd - this.#rowsStart;
      rows += this.#rowsEnd - this.#rowsStart;
    }
    this.#listedRows = listed;
    return rows;
  }

  #startWith(condition: RowUnion, chunk: number): boolean {
    const rows = this.#look(condition, chunk);
    if (rows === 0) return false;
    if (this.#bitmapStarts.length === 0 && rows <= LISTED_ROWS) {
      this.#listed = 0;
      this.#eachList(condition, chunk, this.#addListed);
      for (let i = 0; i < this.#listed; i++) this.#marks[this.#list[i]! >>> 5] = 0;
      return true;
    }
    this.#listed = -1;
    this.#unite(condition, chunk, this.#own);
    return true;
  }

  /** Keeps the matches that meet a further condition. @returns whether any is left */
  #keep(condition: RowUnion, chunk: number): boolean {
    if (this.#look(condition, chunk) === 0) return false;
    if (this.#listed >= 0) return this.#keepListed(condition, chunk);
    const words = this.#words;
    const start = this.#start;
    this.#unite(condition, chunk, this.#union);
    const into = this.#own;
    const others = this.#words;
    const otherStart = this.#start;
    let any = 0;
    for (let i = 0; i < CHUNK_WORDS; i++) {
      const both = words[start + i]! & others[otherStart + i]!;
      into[i] = both;
      any |= both;
    }
    this.#words = into;
    this.#start = 0;
    return any !== 0;
  }

  #keepListed(condition: RowUnion, chunk: number): boolean {
    const list = this.#list;
    const marks = this.#marks;
    const bitmaps = this.#bitmapStarts;
    const words = this.#sets.bitmaps;
    const searches = condition.sets.length + (condition.rows.length > 0 ? 1 : 0);
    if (this.#listed * searches * SEARCH_STEPS < this.#listedRows) return this.#keepSearched(condition, chunk);
    if (this.#listedRows > 0) this.#eachList(condition, chunk, this.#mark);
    let kept = 0;
    for (let i = 0; i < this.#listed; i++) {
      const member = list[i]!;
      const word = member >>> 5;
      let bits = marks[word]!;
      for (let b = 0; b < bitmaps.length; b++) bits |= words[bitmaps[b]! + word]!;
      list[kept] = member;
      kept += (bits >>> (member & 31)) & 1;
    }
    this.#listed = kept;
    if (this.#listedRows > 0) this.#eachList(condition, chunk, this.#unmark);
    return kept > 0;
  }

  /** The same for few matches and long lists: by looking each match up in the sorted lists. */
  #keepSearched({ members, rows, sets, starts }: RowUnion, chunk: number): boolean {
    const list = this.#list;
    const bitmaps = this.#bitmapStarts;
    const words = this.#sets.bitmaps;
    const { lists } = this.#sets;
    let kept = 0;
    for (let i = 0; i < this.#listed; i++) {
      const member = list[i]!;
      let isIn = false;
      for (let b = 0; !isIn && b < bitmaps.length; b++) {
        isIn = ((words[bitmaps[b]! + (member >>> 5)]! >>> (member & 31)) & 1) === 1;
      }
      for (let s = 0; !isIn && s < sets.length; s++) {
        const count = this.#sets.countIn(sets[s]!, chunk);
        if (count === 0 || count >= LISTED_ROWS) continue;
        const start = this.#sets.placeIn(sets[s]!, chunk);
        isIn = hasMember(lists, start, start + count, member);
      }
      if (!isIn && this.#rowsStart < this.#rowsEnd) {
        isIn = hasMember(rows, this.#rowsStart, this.#rowsEnd, chunk * CHUNK_ROWS + member);
      }
      if (!isIn && starts.length > 0) isIn = members.subarray(starts[chunk]!, starts[chunk + 1]!).includes(member);
      list[kept] = member;
      kept += isIn ? 1 : 0;
    }
    this.#listed = kept;
    return kept > 0;
  }

  /** Leaves the condition's rows of a chunk in `#words`: in place where they are one bitmap, else united in `into`. */
  #unite(condition: RowUnion, chunk: number, into: Int32Array): void {
    const bitmaps = this.#bitmapStarts;
    const words = this.#sets.bitmaps;
    if (bitmaps.length === 1 && this.#listedRows === 0) {
      this.#words = words;
      this.#start = bitmaps[0]!;
      return;
    }
    const first = bitmaps[0];
    if (first === undefined) into.fill(0);
    else into.set(words.subarray(first, first + CHUNK_WORDS));
    for (let b = 1; b < bitmaps.length; b++) {
      const start = bitmaps[b]!;
      for (let i = 0; i < CHUNK_WORDS; i++) into[i]! |= words[start + i]!;
    }
    this.#words = into;
    this.#start = 0;
    if (this.#listedRows > 0) this.#eachList(condition, chunk, this.#addToWords);
  }

  #eachList(
    { members, rows, sets, starts }: RowUnion,
    chunk: number,
    see: (members: Uint16Array, start: number, end: number) => void,
  ): void {
    if (this.#rowsStart < this.#rowsEnd) {
      const places = this.#places;
      const from = this.#rowsStart;
      const count = this.#rowsEnd - from;
      for (let i = 0; i < count; i++) places[i] = rows[from + i]! & 0xffff;
      see(places, 0, count);
    }
    if (starts.length > 0) see(members, starts[chunk]!, starts[chunk + 1]!);
    const { lists } = this.#sets;
    for (let i = 0; i < sets.length; i++) {
      const count = this.#sets.countIn(sets[i]!, chunk);
      if (count === 0 || count >= LISTED_ROWS) continue;
      const start = this.#sets.placeIn(sets[i]!, chunk);
      see(lists, start, start + count);
    }
  }

  /** Appends to the list what it does not have. */
  readonly #addListed = (members: Uint16Array, start: number, end: number): void => {
    const list = this.#list;
    const marks = this.#marks;
    let count = this.#listed;
    for (let i = start; i < end; i++) {
      const member = members[i]!;
      const word = marks[member >>> 5]!;
      const bit = 1 << (member & 31);
      marks[member >>> 5] = word | bit;
      list[count] = member;
      count += (word & bit) === 0 ? 1 : 0;
    }
    this.#listed = count;
  };

  readonly #mark = (members: Uint16Array, start: number, end: number): void => {
    const marks = this.#marks;
    for (let i = start; i < end; i++) marks[members[i]! >>> 5]! |= 1 << (members[i]! & 31);
  };

  readonly #unmark = (members: Uint16Array, start: number, end: number): void => {
    const marks = this.#marks;
    for (let i = start; i < end; i++) marks[members[i]! >>> 5] = 0;
  };

  readonly #addToWords = (members: Uint16Array, start: number, end: number): void => {
    const words = this.#words;
    for (let i = start; i < end; i++) words[members[i]! >>> 5]! |= 1 << (members[i]! & 31);
  };

  /** Drops the matches before place `start` of the chunk. */
  #keepFrom(start: number): void {
    if (this.#listed >= 0) {
      let kept = 0;
      for (let i = 0; i < this.#listed; i++) {
        this.#list[kept] = this.#list[i]!;
        kept += this.#list[i]! >= start ? 1 : 0;
      }
      this.#listed = kept;
      return;
    }
    this.#ownWords();
    this.#own.fill(0, 0, start >>> 5);
    this.#own[start >>> 5]! &= -1 << (start & 31);
  }

  /** Drops the matches from place `end` of the chunk on. */
  #keepBelow(end: number): void {
    if (this.#listed >= 0) {
      let kept = 0;
      for (let i = 0; i < this.#listed; i++) {
        this.#list[kept] = this.#list[i]!;
        kept += this.#list[i]! < end ? 1 : 0;
      }
      this.#listed = kept;
      return;
    }
    this.#ownWords();
    this.#own.fill(0, (end + 31) >>> 5);
    if ((end & 31) !== 0) this.#own[end >>> 5]! &= (1 << (end & 31)) - 1;
  }

  /** Copies a bitmap of the index, so that it can be changed. */
  #ownWords(): void {
    if (this.#words === this.#own) return;
    this.#own.set(this.#words.subarray(this.#start, this.#start + CHUNK_WORDS));
    this.#words = this.#own;
    this.#start = 0;
  }

  #count(): number {
    if (this.#listed >= 0) return this.#listed;
    const words = this.#words;
    const start = this.#start;
    let count = 0;
    for (let i = start; i < start + CHUNK_WORDS; i++) count += bitCountOf(words[i]!);
    return count;
  }

  /** Appends matches to `rows`, ascending, until it has `rowsMax`. @param first row of the chunk */
  #take(first: number, rowsMax: number, rows: number[]): void {
    if (this.#listed >= 0) {
      const list = this.#list.subarray(0, this.#listed).sort();
      for (let i = 0; i < list.length && rows.length < rowsMax; i++) rows.push(first + list[i]!);
      return;
    }
    for (let i = 0; i < CHUNK_WORDS; i++) {
      for (let word = this.#words[this.#start + i]!; word !== 0; word &= word - 1) {
        if (rows.length === rowsMax) return;
        rows.push(first + i * 32 + 31 - Math.clz32(word & -word));
      }
    }
  }
}
