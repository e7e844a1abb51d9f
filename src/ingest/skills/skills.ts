/**
 * Skills named in a title and a description (specification, "Company data": deterministic extractions; decisions §3,
 * `skills`). The dictionary is data/skills.json; dictionary.ts checks it, phrases.ts and phrase-trie.ts prepare it, scan.ts
 * finds its phrases in a text.
 *
 * Invariant: an answer depends on the two texts and the dictionary alone.
 * Cost: linear. A word starts at most one walk, as long as the longest phrase; a gap, a chunk and a blank are read a
 * bounded number of times. Figures in bench/skills.ts.
 */
import { htmlText } from '../input/html-text.ts';
import { readPackageData } from '../package-data.ts';
import { characterFlags, preparedText } from './characters.ts';
import { parseDictionary } from './dictionary.ts';
import { buildPhraseTrie } from './phrase-trie.ts';
import { phrasesOf } from './phrases.ts';
import { Scan } from './scan.ts';

/** Counts changes to the rules in this folder that can change an answer; part of the version. */
const ALGORITHM = 2;

export interface SkillExtractor {
  /** Names the algorithm and the dictionary: `2.<dictionary version>.<hash of its content>`. */
  readonly version: string;
  /** Canonical names, distinct, in order of first appearance, title first. The description may be HTML. */
  extract(title: string, description: string | null): string[];
}

/** FNV-1a, 32 bits, in hexadecimal: an edit of the dictionary changes the version even when its author did not. */
function contentHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/**
 * An extractor over a dictionary in the format of data/skills.json.
 * @throws SkillDictionaryError when the dictionary is unsound
 */
export function buildSkillExtractor(dictionary: unknown): SkillExtractor {
  const parsed = parseDictionary(dictionary);
  const flags = characterFlags();
  const { names, rules } = phrasesOf(parsed, flags);
  const trie = buildPhraseTrie(rules, flags);
  return Object.freeze({
    version: `${ALGORITHM}.${parsed.version}.${contentHash(JSON.stringify(parsed))}`,
    extract(title: string, description: string | null): string[] {
      const found = new Set<number>();
      new Scan(preparedText(title), flags, trie).addTo(found);
      if (description !== null) new Scan(preparedText(htmlText(description)), flags, trie).addTo(found);
      return Array.from(found, (skill) => names[skill]!);
    },
  });
}

let loaded: SkillExtractor | undefined;

/** The extractor over the dictionary that comes with the package, read once. */
export function loadSkillExtractor(): SkillExtractor {
  loaded ??= buildSkillExtractor(readPackageData('skills.json'));
  return loaded;
}
