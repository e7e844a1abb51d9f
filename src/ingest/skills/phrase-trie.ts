/** Folded phrases as one trie of UTF-16 units, in two flat arrays. */
import { BLANK } from './characters.ts';
import { SkillDictionaryError } from './dictionary.ts';
import type { Rule } from './phrases.ts';

export interface PhraseTrie {
  /** Symbol of each UTF-16 unit, either case; 0 = occurs in no phrase, BLANK_SYMBOL = blank. */
  readonly symbols: Uint8Array;
  readonly width: number;
  /** node * width + symbol -> node; 0 = none. Node 0 is the root. */
  readonly next: Uint16Array;
  /** By node: the rules of the phrase that ends there. */
  readonly rules: readonly (readonly Rule[] | undefined)[];
}

export const BLANK_SYMBOL = 1;

const NODE_COUNT_MAX = 0xffff;
const SYMBOL_COUNT_MAX = 0xff;

/** @throws SkillDictionaryError when the phrases have too many characters for the arrays */
export function buildPhraseTrie(phrases: ReadonlyMap<string, readonly Rule[]>, flags: Uint8Array): PhraseTrie {
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
  // Level by level, so that the nodes of first letters, where nearly every walk ends, share cache lines.
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
  return { symbols, width, next: next.slice(0, used * width), rules: rules.slice(0, used) };
}
