/**
 * The matching positions of a question, filter after filter: a list while they are few, whose members are looked at one by
 * one, else a set, whose words are. Owned by a cohort and filled again by the next question: fresh arrays would cost more
 * than most questions (1.3 KB outside the heap each, 0.7 µs and the collector's time).
 */
import { BitSet, keepMembers } from '../base/bitset.ts';
import { LISTED_ROWS_MAX } from './limits.ts';
import type { FoundTerm } from './term-index.ts';

export class Matches {
  /** The matches, unless they are listed. */
  readonly #set: BitSet;
  /** The matches in no order, as far as `listedCount` says. */
  readonly list = new Uint16Array(LISTED_ROWS_MAX);
  #listedCount = -1;
  readonly #scratch: BitSet;

  /** length  of the cohort */
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
    this.#listedCount = 0;
  }

  /** These match, each given once. */
  startWith(positions: Uint16Array): void {
    const count = positions.length;
    if (count <= LISTED_ROWS_MAX) {
      this.#listedCount = count;
      for (let i = 0; i < count; i++) this.list[i] = positions[i]!;
      return;
    }
    this.#listedCount = -1;
    this.#set.clear();
    this.#set.addFrom(positions, 0, count);
  }

  startWithTerm(term: FoundTerm): void {
    if (term.bitmap < 0 && term.rowCountMax <= LISTED_ROWS_MAX) {
      this.#listedCount = term.index.listRows(term, this.list, this.#scratch);
    } else {
      this.#listedCount = -1;
      term.index.writeRows(term, this.#set);
    }
  }

  startWithAll(): void {
    this.#listedCount = -1;
    this.#set.fill();
  }

  /** Adds one to the matches, which were none at the start. */
  add(position: number): void {
    if (this.#listedCount === LISTED_ROWS_MAX) {
      this.toSet();
      this.#listedCount = -1;
    }
    if (this.#listedCount < 0) this.#set.add(position);
    else this.list[this.#listedCount++] = position;
  }

  /** Keeps the matches that hold a term of the cohort's own index. Says whether any is left. */
  keepTerm(term: FoundTerm): boolean {
    if (this.#listedCount < 0) return term.index.keepRows(term, this.#set, this.#scratch);
    this.#listedCount = term.index.keepListed(term, this.list, this.#listedCount, this.#scratch);
    return this.#listedCount !== 0;
  }

  /** Keeps the matches that are in `positions`, too. Says whether any is left. */
  keepSet(positions: BitSet): boolean {
    if (this.#listedCount < 0) return this.#set.intersect(positions);
    this.#listedCount = keepMembers(positions.words, 0, this.list, this.#listedCount);
    return this.#listedCount !== 0;
  }

  /** The matches as a set, good until the next question. */
  toSet(): BitSet {
    if (this.#listedCount >= 0) {
      this.#set.clear();
      this.#set.addFrom(this.list, 0, this.#listedCount);
    }
    return this.#set;
  }

  /** Lists the matches where they are few enough, and says whether it did. */
  toList(): boolean {
    if (this.#listedCount >= 0) return true;
    const count = this.#set.readInto(this.list);
    // A full list may have left some out.
    if (count < this.list.length) this.#listedCount = count;
    return this.#listedCount >= 0;
  }
}
