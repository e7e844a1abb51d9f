/**
 * The matching positions of a question, filter after filter: a list while they are few, whose members are looked at one by
 * one, else a set, whose words are. Owned by a part of a cohort and filled again by the next question: fresh arrays would cost
 * more than most questions (1.3 KB outside the heap each, 0.7 µs and the collector's time).
 */
import { BitSet, keepMembers, type WordRun, writeFirstOfAll } from '../../base/bitset.ts';
import { LISTED_ROWS_MAX } from '../limits.ts';
import type { FoundTerm } from './term-index.ts';

export class Matches {
  /** The matches, unless they are listed. */
  readonly #set: BitSet;
  /** What a list is written into. One that nothing was taken from yet may lie elsewhere, and is not to be modified. */
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

  /** How many matches are listed; -1 = they are in the set alone. */
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

  /** These match, each given once. */
  startWith(positions: Uint16Array): void {
    if (positions.length <= LISTED_ROWS_MAX) {
      this.#listAs(positions, 0, positions.length);
      return;
    }
    this.#listedCount = -1;
    this.#set.clear();
    this.#set.addFrom(positions, 0, positions.length);
  }

  /** What holds a term of the part's own index that has no bitmap matches. */
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

  /** What all of some sets of positions, at least one, have matches: the smallest `enough` of them or, when those are many, all. */
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

  /** Adds one to the matches, which were none at the start. */
  add(position: number): void {
    if (this.#listedCount === LISTED_ROWS_MAX) {
      this.toSet();
      this.#listedCount = -1;
    }
    if (this.#listedCount < 0) this.#set.add(position);
    else this.#own[this.#listedCount++] = position;
  }

  /** Keeps the matches that hold a term of the part's own index that has no bitmap. Says whether any is left. */
  keepTerm(term: FoundTerm): boolean {
    term.index.writeRows(term, this.#scratch);
    return this.keepSet(this.#scratch);
  }

  /** Keeps the matches that are in a set of positions, too. Says whether any is left. */
  keepSet({ words, wordsStart }: WordRun): boolean {
    if (this.#listedCount < 0) return this.#set.intersectWords(words, wordsStart);
    const kept = keepMembers(words, wordsStart, this.#list, this.#listStart, this.#listedCount, this.#own);
    this.#listAs(this.#own, 0, kept);
    return kept !== 0;
  }

  /** The matches as a set, good until the next question. */
  toSet(): BitSet {
    if (this.#listedCount >= 0) {
      this.#set.clear();
      this.#set.addFrom(this.#list, this.#listStart, this.#listStart + this.#listedCount);
    }
    return this.#set;
  }

  /** The `limit` smallest matches, ascending, or all when there are fewer. */
  first(limit: number): number[] {
    if (this.#listedCount < 0) return this.#set.first(limit);
    const first: number[] = [];
    for (let i = 0; i < this.#listedCount; i++) {
      const position = this.#list[this.#listStart + i]!;
      let place = first.length;
      if (place === limit && position > first[limit - 1]!) continue;
      if (place === limit) place--;
      for (; place > 0 && first[place - 1]! > position; place--) first[place] = first[place - 1]!;
      first[place] = position;
    }
    return first;
  }

  #listAs(list: Uint16Array, start: number, count: number): void {
    this.#list = list;
    this.#listStart = start;
    this.#listedCount = count;
  }
}
