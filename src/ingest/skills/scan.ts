/**
 * The scan of one text: each word walks the trie of phrases, the longest phrase that ends at a boundary wins, and the
 * scan continues after it. A phrase never crosses a line.
 */
import { AddressRuns } from './address-runs.ts';
import {
  AMPERSAND,
  APOSTROPHE,
  AT,
  BLANK,
  DOLLAR,
  DOT,
  HYPHEN,
  isWord,
  LETTER,
  PLUS,
  SHARP,
  WORD,
} from './characters.ts';
import { areNeighbours, type Match } from './list-context.ts';
import { BLANK_SYMBOL, type PhraseTrie } from './phrase-trie.ts';
import type { Rule } from './phrases.ts';

const SMALL_WORD = /^[a-z]+$/;
/** Words before a one-letter name that speak of using it: `in R`, `write C`. */
const USE_WORDS = new Set(['in', 'using', 'with', 'write', 'writing', 'know', 'some', 'modern', 'plain']);
/** Words after which a capital proves nothing, because names other than tools follow them too. */
const NEUTRAL_WORDS = new Set([
  'and',
  'or',
  'to',
  'the',
  'this',
  'that',
  'each',
  'every',
  'of',
  'by',
  's',
  'you',
  'we',
  'i',
]);

export class Scan {
  readonly #text: string;
  readonly #flags: Uint8Array;
  readonly #trie: PhraseTrie;
  readonly #addresses: AddressRuns;

  /** @param text as `preparedText` gives it */
  constructor(text: string, flags: Uint8Array, trie: PhraseTrie) {
    this.#text = text;
    this.#flags = flags;
    this.#trie = trie;
    this.#addresses = new AddressRuns(text, flags);
  }

  /** Adds the skills, by index in the dictionary, in order of appearance. */
  addTo(found: Set<number>): void {
    const matches = this.#matches();
    let from = 0;
    while (from < matches.length) {
      let to = from + 1;
      let isCertain = !matches[from]!.list;
      while (to < matches.length && areNeighbours(this.#text, this.#flags, matches[to - 1]!, matches[to]!)) {
        if (!matches[to]!.list) isCertain = true;
        to++;
      }
      for (let i = from; i < to; i++) {
        const match = matches[i]!;
        if (isCertain || !match.list) found.add(match.skill);
      }
      from = to;
    }
  }

  #matches(): Match[] {
    const text = this.#text;
    const flags = this.#flags;
    const { symbols, width, next, rules } = this.#trie;
    const length = text.length;
    const matches: Match[] = [];
    let at = 0;
    while (at < length) {
      const unit = text.charCodeAt(at);
      if ((flags[unit]! & WORD) === 0 && unit !== DOT) {
        at++;
        continue;
      }
      if (this.#isStart(at, unit)) {
        let node = 0;
        let i = at;
        let end = 0;
        let rule: Rule | undefined;
        while (i < length) {
          const here = text.charCodeAt(i);
          let symbol = symbols[here]!;
          if ((flags[here]! & HYPHEN) !== 0 && isWord(text, i - 1, flags) && isWord(text, i + 1, flags)) {
            symbol = BLANK_SYMBOL;
          }
          node = next[node * width + symbol]!;
          if (node === 0) break;
          i++;
          if (symbol === BLANK_SYMBOL) while (i < length && (flags[text.charCodeAt(i)]! & BLANK) !== 0) i++;
          const ended = rules[node];
          if (ended !== undefined && this.#isEnd(i)) {
            const fitting = this.#fitting(ended, at, i);
            if (fitting !== undefined) {
              rule = fitting;
              end = i;
            }
          }
        }
        if (rule !== undefined) {
          if (rule.skill >= 0 && !this.#addresses.covers(at, end)) {
            const list = rule.list && !(rule.name && this.#isNamed(at, end));
            matches.push({ start: at, end, skill: rule.skill, list });
          }
          at = end;
          continue;
        }
      }
      at++;
      if (unit !== DOT) while (at < length && (flags[text.charCodeAt(at)]! & WORD) !== 0) at++;
    }
    return matches;
  }

  #fitting(rules: readonly Rule[], start: number, end: number): Rule | undefined {
    for (const rule of rules) {
      if (rule.exact !== null && !(rule.exact.length === end - start && this.#text.startsWith(rule.exact, start)))
        continue;
      if (rule.list && !this.#standsAlone(start, end)) continue;
      return rule;
    }
    return undefined;
  }

  /** Whether a phrase may start here: not inside `foo.net`, not behind `@`. The unit before is no word character. */
  #isStart(at: number, unit: number): boolean {
    const before = at > 0 ? this.#text.charCodeAt(at - 1) : 0;
    if (unit === DOT) return before !== DOT && !isWord(this.#text, at - 1, this.#flags);
    if (before === AT) return false;
    return before !== DOT || !isWord(this.#text, at - 2, this.#flags);
  }

  /** Whether a phrase may end before `end`: `Java` not in JavaScript, java.com or java@; `C++` may carry a digit. */
  #isEnd(end: number): boolean {
    const text = this.#text;
    if (end >= text.length) return true;
    const after = text.charCodeAt(end);
    const last = text.charCodeAt(end - 1);
    if ((this.#flags[last]! & WORD) === 0) return after !== last && (this.#flags[after]! & LETTER) === 0;
    if ((this.#flags[after]! & WORD) !== 0 || after === AT) return false;
    return after !== DOT || !isWord(text, end + 1, this.#flags);
  }

  /**
   * Ambiguous names do not count inside a compound: not R in R&D or R-squared, not C in C+, not Go in Go-live or $R.
   */
  #standsAlone(start: number, end: number): boolean {
    const text = this.#text;
    const after = end < text.length ? text.charCodeAt(end) : 0;
    if (after === PLUS || after === SHARP) return false;
    const binds = (unit: number): boolean =>
      (this.#flags[unit]! & HYPHEN) !== 0 || unit === AMPERSAND || unit === APOSTROPHE;
    if (binds(after) && isWord(text, end + 1, this.#flags)) return false;
    const before = start > 0 ? text.charCodeAt(start - 1) : 0;
    return before !== DOLLAR && !(binds(before) && isWord(text, start - 2, this.#flags));
  }

  /**
   * Whether a name follows a lower-case word: `in Excel`, `write Go`. One-letter names need a word that speaks of use,
   * `in R`; after `and`, `or` and `/` the neighbour decides.
   */
  #isNamed(start: number, end: number): boolean {
    const text = this.#text;
    if (start < 2 || (this.#flags[text.charCodeAt(start - 1)]! & BLANK) === 0) return false;
    let from = start - 1;
    while (isWord(text, from - 1, this.#flags)) from--;
    const word = text.slice(from, start - 1);
    if (!SMALL_WORD.test(word)) return false;
    return end - start === 1 ? USE_WORDS.has(word) : !NEUTRAL_WORDS.has(word);
  }
}
