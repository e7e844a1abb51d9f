/**
 * The matching positions of a question, narrowed filter after filter: a list while they are few, else a set of bits. A part
 * of a cohort owns one and each question overwrites it, because allocating fresh arrays would cost more than most questions.
 */
import { BitSet, keepMembers, type WordRun, writeFirstOfAll } from '../../base/bitset.ts';
import { LISTED_ROWS_MAX } from '../limits.ts';
import type { FoundTerm } from './term-index.ts';

export class Matches {
  /** The matches when they are not in the list. */
  readonly #set: BitSet;
  /** The list that this object may write to. `#list` may instead be an array of the index, which is read only. */
  readonly #own = new Uint16Array(LISTED_ROWS_MAX);
  #list: Uint16Array = this.#own;
  #listStart = 0;
  #listedCount = -1;
  readonly #scratch: BitSet;

  /** length  of the part */
  constructor(length: number) {
    this.#set = new BitSet(length);
    this.#scratch = new BitSet(length);
  }

  /** Length of the list; -1 = the matches are in the set. */
  get listedCount(): number {
    return this.#listedCount;
  }

  get count(): number {
    return this.#listedCount < 0 ? this.#set.count : this.#listedCount;
  }

  /** Nothing matches. */
  startWithNone(): void {
    this.#listAs(this.#own, 0, 0);
  }

  startWithAll(): void {
    this.#listedCount = -1;
    this.#set.fill();
  }

  /** `positions[start] .. positions[end - 1]` match, each given once. */
  startWith(positions: Uint16Array, start: number, end: number): void {
    if (end - start <= LISTED_ROWS_MAX) {
      this.#listAs(positions, start, end - start);
      return;
    }
    this.#listedCount = -1;
    this.#set.clear();
    this.#set.addFrom(positions, start, end);
  }

  /** The rows of a term match. @param term from an index of this part, without a bitmap */
  startWithTerm(term: FoundTerm): void {
    const { index } = term;
    if (term.rowCountMax > LISTED_ROWS_MAX) {
      this.#listedCount = -1;
      index.writeRows(term, this.#set);
      return;
    }
    const start = index.postingsStartOf(term);
    if (start >= 0) this.#listAs(index.postings, start, term.rowCountMax);
    else this.#listAs(this.#own, 0, index.listRows(term, this.#own, this.#scratch));
  }

  /**
   * The intersection of at least one set matches: its `enough` smallest positions or, when `enough` is too many for a
   * list, all.
   */
  startWithSets(sets: readonly WordRun[], enough: number): void {
    const { words } = sets[0]!;
    const starts: number[] = [];
    for (const set of sets) if (set.words === words) starts.push(set.wordsStart);
    if (enough <= LISTED_ROWS_MAX && starts.length === sets.length) {
      this.#listAs(this.#own, 0, writeFirstOfAll(words, starts, this.#set.words.length, enough, this.#own));
      return;
    }
    this.#listedCount = -1;
    let isAny = this.#set.readWords(words, starts);
    for (const set of sets)
      if (isAny && set.words !== words) isAny = this.#set.intersectWords(set.words, set.wordsStart);
    if (!isAny) this.startWithNone();
  }

  /** Adds a position that is no match yet, after `startWithNone`. */
  add(position: number): void {
    if (this.#listedCount === LISTED_ROWS_MAX) {
      this.toSet();
      this.#listedCount = -1;
    }
    if (this.#listedCount < 0) this.#set.add(position);
    else this.#own[this.#listedCount++] = position;
  }

  /**
   * Keeps the matches that contain a term.
   * @param term from an index of this part, without a bitmap
   * @returns whether any is left
   */
  keepTerm(term: FoundTerm): boolean {
    term.index.writeRows(term, this.#scratch);
    return this.keepSet(this.#scratch);
  }

  /** Keeps the matches that a set of positions also has. @returns whether any is left */
  keepSet({ words, wordsStart }: WordRun): boolean {
    if (this.#listedCount < 0) return this.#set.intersectWords(words, wordsStart);
    const kept = keepMembers(words, wordsStart, this.#list, this.#listStart, this.#listedCount, this.#own);
    this.#listAs(this.#own, 0, kept);
    return kept !== 0;
  }

  /** The matches as a set, valid until the next question. */
  toSet(): BitSet {
    if (this.#listedCount >= 0) {
      this.#set.clear();
      this.#set.addFrom(this.#list, this.#listStart, this.#listStart + this.#listedCount);
    }
    return this.#set;
  }

  #listAs(list: Uint16Array, start: number, count: number): void {
    this.#list = list;
    this.#listStart = start;
    this.#listedCount = count;
  }
}
