/**
 * Skills named in a title and a description (specification, "Company data": deterministic extractions; decisions §3,
 * `skills`). The dictionary is data/skills.json. Its phrases, folded, form one trie of UTF-16 units; each word of the
 * text walks it, the longest phrase that ends at a boundary wins, and the scan goes on behind it.
 *
 * Invariant: an answer depends on the two texts and the dictionary alone. A phrase never crosses a line.
 * Cost: linear. A word starts at most one walk, as long as the longest phrase; a gap, a chunk and a blank are looked at
 * a bounded number of times. Figures in bench/skills.ts.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { htmlText } from '../input/html-text.ts';

/** Counts changes to the rules in this file that can change an answer; part of the version. */
const ALGORITHM = 2;

export interface SkillExtractor {
  /** Names the algorithm and the dictionary: `2.<dictionary version>.<hash of its content>`. */
  readonly version: string;
  /** Canonical names, distinct, in order of first appearance, title first. The description may be HTML. */
  extract(title: string, description: string | null): string[];
}

/** What is wrong with a dictionary: the entry's name (or its place), and the reason. */
export class SkillDictionaryError extends Error {
  readonly entry: string;
  readonly reason: string;
  constructor(entry: string, reason: string) {
    super(`skill dictionary: ${entry}: ${reason}`);
    this.name = 'SkillDictionaryError';
    this.entry = entry;
    this.reason = reason;
  }
}

const phraseText = v.pipe(v.string(), v.minLength(1), v.maxLength(80));

/**
 * `context: 'list'` counts only beside a recognised skill in a list; `context: 'name'` there, or behind a word in small
 * letters on the same line, where only a name has a capital: `you know Go`, not `Go above`. `case: 'exact'` counts only
 * as it is written. On an entry they speak of its name; an alias that needs them is written as an object.
 */
const conditions = { context: v.optional(v.picklist(['list', 'name'])), case: v.optional(v.literal('exact')) };
const phraseSchema = v.strictObject({ text: phraseText, ...conditions });
const entrySchema = v.strictObject({
  name: phraseText,
  area: v.optional(phraseText),
  aliases: v.optional(v.array(v.union([phraseText, phraseSchema])), []),
  ...conditions,
});
const dictionarySchema = v.strictObject({
  version: v.pipe(v.string(), v.regex(/^[0-9a-z-]{1,20}$/)),
  /** Phrases that hold the name of a skill and mean something else; they match first when they are longer. */
  ignore: v.optional(v.array(phraseText), []),
  skills: v.pipe(v.array(entrySchema), v.minLength(1)),
});
type Dictionary = v.InferOutput<typeof dictionarySchema>;

// ---- characters ------------------------------------------------------------------------------------------------

const WORD = 1; // letters, marks, digits, underscore
const BLANK = 2; // horizontal white space
const LINE = 4; // line breaks
const LISTING = 8; // separates items of a list: , ; / | & + brackets bullets
const FILLING = 16; // may stand in the gap between two items, but separates nothing
const CHUNK_END = 32; // ends a run that may be an address
const HYPHEN = 64;
const LETTER = 128;

/**
 * Letters of scripts that put no blank between a foreign name and the next word count as boundaries, not as parts of
 * a word: Korean and Japanese postings write particles right behind `Java`.
 */
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED_SCRIPT = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}]/u;
const LETTER_CHARACTER = /\p{L}/u;

/** Flags of every UTF-16 unit; halves of surrogate pairs (emoji, mostly) have none and are boundaries. */
function buildFlags(): Uint8Array {
  const flags = new Uint8Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) {
    if (unit >= 0xd800 && unit <= 0xdfff) continue;
    const character = String.fromCharCode(unit);
    if (!WORD_CHARACTER.test(character) || UNSPACED_SCRIPT.test(character)) continue;
    flags[unit] = LETTER_CHARACTER.test(character) ? WORD | LETTER : WORD;
  }
  const mark = (characters: string, flag: number): void => {
    for (let i = 0; i < characters.length; i++) flags[characters.charCodeAt(i)]! |= flag;
  };
  mark(' \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000', BLANK);
  mark('\n\r\v\f\u0085\u2028\u2029', LINE);
  mark(',;/|&+()[]{}•·●▪▫■□◦‣⁃∙○►▶➢✓✔、，；／', LISTING);
  mark(':*-–—"\'`“”‘’«»', FILLING);
  mark('-\u2010\u2011', HYPHEN);
  mark(' \t\n\r\v\f\u00a0\u2028\u2029<>"()[]{},;|•', CHUNK_END);
  return flags;
}

let flagsBuilt: Uint8Array | undefined;

const NOT_ASCII = /[^\0-\x7f]/;
const DOT = 46;
const AT = 64;
const AMPERSAND = 38;
const PLUS = 43;
const SHARP = 35;
const COLON = 58;
const SLASH = 47;
const QUESTION = 63;
const DOLLAR = 36;
const APOSTROPHE = 39;

/** NFKC with its case kept. A trade mark sign goes first: NFKC would glue the letters TM to the name before it. */
function preparedText(text: string): string {
  return NOT_ASCII.test(text)
    ? text
        .replace(/[\u2120\u2122]/g, ' ')
        .replace(/[\u2018\u2019]/g, "'")
        .normalize('NFKC')
    : text;
}

/** Top-level domains that end a host written without a scheme; `net` is not here because of ASP.NET and its kin. */
const TOP_LEVEL = new Set('com org io ai dev co edu gov eu uk de fr us ca app cloud info jobs'.split(' '));

// ---- phrases -----------------------------------------------------------------------------------------------------

interface Rule {
  /** Place in the dictionary; -1 = the phrase is known to mean no skill. */
  readonly skill: number;
  /** The only spelling that counts, or null. */
  readonly exact: string | null;
  readonly list: boolean;
  /** Beside `list`: a capital in the middle of a sentence is enough. */
  readonly name: boolean;
}

const BLANK_SYMBOL = 1;

/** Lower case, white space and a hyphen between word characters as one blank: `T-SQL` and `t sql` are one phrase. */
function foldedPhrase(text: string, flags: Uint8Array): string {
  const lower = preparedText(text).toLowerCase();
  let folded = '';
  for (let i = 0; i < lower.length; i++) {
    const flag = flags[lower.charCodeAt(i)]!;
    const joins = (flag & HYPHEN) !== 0 && isWord(lower, i - 1, flags) && isWord(lower, i + 1, flags);
    folded += joins || (flag & BLANK) !== 0 ? ' ' : lower[i]!;
  }
  return folded.replace(/ +/g, ' ');
}

function isWord(text: string, index: number, flags: Uint8Array): boolean {
  return index >= 0 && index < text.length && (flags[text.charCodeAt(index)]! & WORD) !== 0;
}

interface Phrases {
  readonly names: readonly string[];
  /** Symbol of each UTF-16 unit, either case; 0 = occurs in no phrase, 1 = blank. */
  readonly symbols: Uint8Array;
  readonly width: number;
  /** node * width + symbol -> node; 0 = none. Node 0 is the root. */
  readonly next: Uint16Array;
  /** Rules of the phrase that ends at a node. */
  readonly rules: readonly (readonly Rule[] | undefined)[];
}

const NODE_COUNT_MAX = 0xffff;
const SYMBOL_COUNT_MAX = 0xff;

function buildPhrases(dictionary: Dictionary, flags: Uint8Array): Phrases {
  const phrases = new Map<string, Rule[]>();
  const names: string[] = [];
  const seen = new Set<string>();

  const add = (owner: string, text: string, rule: Rule): void => {
    const folded = foldedPhrase(text, flags);
    const startsWell = isWord(folded, 0, flags) || (folded.startsWith('.') && isWord(folded, 1, flags));
    if (!startsWell || /\s$|[\n\r]/.test(folded)) {
      throw new SkillDictionaryError(
        owner,
        `"${text}" must start with a letter, a digit or a dot and hold no line break`,
      );
    }
    const rules = phrases.get(folded) ?? [];
    for (const other of rules) {
      const apart = rule.exact !== null && other.exact !== null && rule.exact !== other.exact;
      if (other.skill !== rule.skill && !apart) {
        const place = other.skill < 0 ? 'the list of ignored phrases' : `"${names[other.skill]!}"`;
        throw new SkillDictionaryError(owner, `"${text}" belongs to ${place} already`);
      }
      if (other.skill === rule.skill && other.exact === rule.exact && other.list === rule.list) {
        throw new SkillDictionaryError(owner, `"${text}" is listed twice`);
      }
    }
    rules.push(rule);
    rules.sort((a, b) => Number(a.list) - Number(b.list)); // what needs no context is tried first
    phrases.set(folded, rules);
  };

  for (const text of dictionary.ignore) add('ignore', text, { skill: -1, exact: null, list: false, name: false });
  for (const [skill, entry] of dictionary.skills.entries()) {
    if (seen.has(entry.name)) throw new SkillDictionaryError(entry.name, 'is listed twice');
    seen.add(entry.name);
    names.push(entry.name);
    for (const phrase of [{ ...entry, text: entry.name }, ...entry.aliases]) {
      const { text, context, case: letters } = typeof phrase === 'string' ? { text: phrase } : phrase;
      add(entry.name, text, {
        skill,
        exact: letters === 'exact' ? preparedText(text) : null,
        list: context !== undefined,
        name: context === 'name',
      });
    }
  }

  const symbols = new Uint8Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) if ((flags[unit]! & BLANK) !== 0) symbols[unit] = BLANK_SYMBOL;
  let width = BLANK_SYMBOL + 1;
  let nodeCount = 1;
  for (const folded of phrases.keys()) {
    nodeCount += folded.length;
    for (let i = 0; i < folded.length; i++) {
      const unit = folded.charCodeAt(i);
      if (symbols[unit] !== 0) continue;
      if (width > SYMBOL_COUNT_MAX) throw new SkillDictionaryError(folded, 'there are too many different characters');
      const upper = folded[i]!.toUpperCase();
      symbols[unit] = width;
      if (upper.length === 1) symbols[upper.charCodeAt(0)] = width;
      width++;
    }
  }
  if (nodeCount > NODE_COUNT_MAX) throw new SkillDictionaryError('skills', 'there are too many phrases');

  const next = new Uint16Array(nodeCount * width);
  const rules: (readonly Rule[] | undefined)[] = new Array(nodeCount).fill(undefined);
  let used = 1;
  // Level by level, so that the nodes of first letters, where nearly every walk ends, lie together in the cache.
  let open = Array.from(phrases, ([folded, phraseRules]) => ({ folded, phraseRules, node: 0 }));
  for (let depth = 0; open.length > 0; depth++) {
    for (const path of open) {
      const edge = path.node * width + symbols[path.folded.charCodeAt(depth)]!;
      if (next[edge] === 0) next[edge] = used++;
      path.node = next[edge]!;
      if (depth + 1 === path.folded.length) rules[path.node] = path.phraseRules;
    }
    open = open.filter(({ folded }) => depth + 1 < folded.length);
  }
  return { names, symbols, width, next: next.slice(0, used * width), rules: rules.slice(0, used) };
}

// ---- the scan ----------------------------------------------------------------------------------------------------

/** A phrase found in a text: UTF-16 places, end exclusive. */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly skill: number;
  readonly list: boolean;
}

const SMALL_WORD = /^[a-z]+$/;
const USING = new Set(['in', 'using', 'with', 'write', 'writing', 'know', 'some', 'modern', 'plain']);
const UNTELLING = new Set([
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

/** Longest gap between two neighbours of a list: a line break, a bullet and some indentation. */
const GAP_LENGTH_MAX = 24;

type Link = 'none' | 'line' | 'inline';

class Scan {
  readonly #text: string;
  readonly #flags: Uint8Array;
  readonly #phrases: Phrases;
  /** The chunk looked at last, and the part of it that is a host; matches come in ascending order. */
  #chunkStart = 0;
  #chunkEnd = 0;
  #isAddress = false;
  #hostEnd = 0;

  constructor(text: string, flags: Uint8Array, phrases: Phrases) {
    this.#text = text;
    this.#flags = flags;
    this.#phrases = phrases;
  }

  /** Skills in order of appearance, repeats kept. */
  addTo(found: Set<number>): void {
    const matches = this.#matches();
    let from = 0;
    while (from < matches.length) {
      let to = from + 1;
      let certain = !matches[from]!.list;
      while (to < matches.length && this.#areNeighbours(matches[to - 1]!, matches[to]!)) {
        if (!matches[to]!.list) certain = true;
        to++;
      }
      for (let i = from; i < to; i++) {
        const match = matches[i]!;
        if (certain || !match.list) found.add(match.skill);
      }
      from = to;
    }
  }

  #matches(): Match[] {
    const text = this.#text;
    const flags = this.#flags;
    const { symbols, width, next, rules } = this.#phrases;
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
          if (rule.skill >= 0 && !this.#isInAddress(at, end)) {
            matches.push({
              start: at,
              end,
              skill: rule.skill,
              list: rule.list && !(rule.name && this.#isNamed(at, end)),
            });
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

  /** Ambiguous names are no part of a compound: not R in R&D or R-squared, not C in C+, not Go in Go-live or $R. */
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
   * Whether a name stands behind a word in small letters: `in Excel`, `write Go`. Names of one letter need a word that
   * speaks of use, `in R`; behind `and`, `or` and `/` the neighbour decides, and behind `to` and `the` other things
   * than tools are written with a capital too.
   */
  #isNamed(start: number, end: number): boolean {
    const text = this.#text;
    if (start < 2 || (this.#flags[text.charCodeAt(start - 1)]! & BLANK) === 0) return false;
    let from = start - 1;
    while (isWord(text, from - 1, this.#flags)) from--;
    const word = text.slice(from, start - 1);
    if (!SMALL_WORD.test(word)) return false;
    return end - start === 1 ? USING.has(word) : !UNTELLING.has(word);
  }

  /** Whether the match lies in a URL, an e-mail address or behind a host. A skill that is itself a host counts. */
  #isInAddress(start: number, end: number): boolean {
    if (start >= this.#chunkEnd) this.#readChunk(start);
    if (this.#isAddress) return true;
    return this.#hostEnd > 0 && !(start === this.#chunkStart && end >= this.#hostEnd);
  }

  #readChunk(at: number): void {
    const text = this.#text;
    const flags = this.#flags;
    let start = at;
    while (start > this.#chunkEnd && (flags[text.charCodeAt(start - 1)]! & CHUNK_END) === 0) start--;
    let end = at;
    let isAddress = text.startsWith('www.', start);
    while (end < text.length && (flags[text.charCodeAt(end)]! & CHUNK_END) === 0) end++;
    for (let i = start; i < end && !isAddress; i++) {
      const unit = text.charCodeAt(i);
      if (unit === COLON) isAddress = text.startsWith('//', i + 1) && isWord(text, i - 1, flags);
      else if (unit === AT) isAddress = isWord(text, i - 1, flags) && isWord(text, i + 1, flags);
    }
    if (isAddress) {
      // A query may hold commas and brackets; an address goes on to the next blank.
      while (end < text.length && (flags[text.charCodeAt(end)]! & (BLANK | LINE)) === 0) end++;
    }
    this.#chunkStart = start;
    this.#chunkEnd = end;
    this.#isAddress = isAddress;
    this.#hostEnd = isAddress ? 0 : this.#hostEndOf(start, end);
  }

  /** Where a host at the start of a chunk ends, or 0: labels and dots, a known top-level domain, then a path or nothing. */
  #hostEndOf(start: number, end: number): number {
    const text = this.#text;
    let label = start;
    let i = start;
    for (; i < end; i++) {
      const unit = text.charCodeAt(i);
      if (unit === DOT && isWord(text, i + 1, this.#flags)) label = i + 1;
      else if ((this.#flags[unit]! & (WORD | HYPHEN)) === 0) break;
    }
    if (label === start || !TOP_LEVEL.has(text.slice(label, i).toLowerCase())) return 0;
    const after = i < end ? text.charCodeAt(i) : 0;
    return after === 0 || after === SLASH || after === COLON || after === QUESTION || after === DOT ? i : 0;
  }

  /**
   * Whether two matches are neighbouring items of a list. Over a line break alone, an ambiguous one must be all there
   * is on its side: a bullet `Go` below a bullet `Python` is an item, `Go above and beyond` is not.
   */
  #areNeighbours(left: Match, right: Match): boolean {
    const link = this.#linkOf(left.end, right.start);
    if (link !== 'line') return link === 'inline';
    return (!left.list || this.#isClosedBefore(left.start)) && (!right.list || this.#isClosedAfter(right.end));
  }

  #linkOf(from: number, to: number): Link {
    if (to - from > GAP_LENGTH_MAX) return 'none';
    const text = this.#text;
    let link: Link = 'none';
    let i = from;
    while (i < to) {
      const flag = this.#flags[text.charCodeAt(i)]!;
      if ((flag & LISTING) !== 0) link = 'inline';
      else if ((flag & LINE) !== 0) link = link === 'inline' ? link : 'line';
      else if ((flag & WORD) !== 0) {
        let end = i + 1;
        while (isWord(text, end, this.#flags)) end++;
        const word = text.slice(i, end).toLowerCase();
        if (word !== 'and' && word !== 'or') return 'none';
        link = 'inline';
        i = end;
        continue;
      } else if ((flag & (BLANK | FILLING)) === 0) return 'none';
      i++;
    }
    return link;
  }

  #isClosedBefore(start: number): boolean {
    let i = start - 1;
    while (i >= 0 && start - i <= GAP_LENGTH_MAX && (this.#flags[this.#text.charCodeAt(i)]! & (BLANK | FILLING)) !== 0)
      i--;
    return i < 0 || (this.#flags[this.#text.charCodeAt(i)]! & (LINE | LISTING)) !== 0;
  }

  #isClosedAfter(end: number): boolean {
    const text = this.#text;
    let i = end;
    while (i < text.length && i - end < GAP_LENGTH_MAX && (this.#flags[text.charCodeAt(i)]! & BLANK) !== 0) i++;
    if (i >= text.length) return true;
    const unit = text.charCodeAt(i);
    return unit === DOT || (this.#flags[unit]! & (LINE | LISTING)) !== 0;
  }
}

// ---- the extractor -----------------------------------------------------------------------------------------------

/** FNV-1a, 32 bits, in hexadecimal: an edit of the dictionary shows in the version even when nobody raised it. */
function contentHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

function parseDictionary(dictionary: unknown): Dictionary {
  const parsed = v.safeParse(dictionarySchema, dictionary);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const path = issue.path ?? [];
  const holder: unknown = path[0]?.key === 'skills' ? path[1]?.value : undefined;
  const named = typeof holder === 'object' && holder !== null && 'name' in holder && typeof holder.name === 'string';
  const entry = named
    ? (holder as { name: string }).name
    : path.map((item) => String(item.key)).join('.') || 'dictionary';
  throw new SkillDictionaryError(entry, issue.message);
}

/** An extractor over a dictionary in the format of data/skills.json; a `SkillDictionaryError` when it is unsound. */
export function buildSkillExtractor(dictionary: unknown): SkillExtractor {
  const parsed = parseDictionary(dictionary);
  flagsBuilt ??= buildFlags();
  const flags = flagsBuilt;
  const phrases = buildPhrases(parsed, flags);
  return Object.freeze({
    version: `${ALGORITHM}.${parsed.version}.${contentHash(JSON.stringify(parsed))}`,
    extract(title: string, description: string | null): string[] {
      const found = new Set<number>();
      new Scan(preparedText(title), flags, phrases).addTo(found);
      if (description !== null) new Scan(preparedText(htmlText(description)), flags, phrases).addTo(found);
      return Array.from(found, (skill) => phrases.names[skill]!);
    },
  });
}

/** Folders above this file that are looked through for data/skills.json: src/ingest and a dist/ of any usual shape. */
const LEVELS_UP_MAX = 4;

let loaded: SkillExtractor | undefined;

/** The extractor over the dictionary that comes with the package, read once. */
export function loadSkillExtractor(): SkillExtractor {
  if (loaded !== undefined) return loaded;
  for (let level = 1; level <= LEVELS_UP_MAX; level++) {
    const file = new URL(`${'../'.repeat(level)}data/skills.json`, import.meta.url);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    loaded = buildSkillExtractor(JSON.parse(text));
    return loaded;
  }
  throw new SkillDictionaryError('data/skills.json', 'was not found beside the program');
}
