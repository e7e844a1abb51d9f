/**
 * Skills named in a title and a description (specification, "Company data": deterministic extractions; decisions §3,
 * `skills`). The dictionary is data/skills.json; dictionary.ts checks it, phrases.ts and phrase-trie.ts prepare it, scan.ts
 * finds its phrases in a text.
 *
 * Invariant: an answer depends on the two texts and the dictionary alone.
 * Cost: linear. A word starts at most one walk, as long as the longest phrase; a gap, a chunk and a blank are read a
 * bounded number of times. Figures in bench/skills.ts.
 */
import { descriptionText } from '../input/description-text.ts';
import { characterFlags, preparedText } from './characters.ts';
import type { Dictionary } from './dictionary.ts';
import { buildPhraseTrie } from './phrase-trie.ts';
import { phrasesOf } from './phrases.ts';
import { Scan } from './scan.ts';
import { readDictionary, skillsVersionOf } from './skills-version.ts';

export interface SkillExtractor {
  /** As `skillsVersionOf` names the rules and the dictionary. */
  readonly version: string;
  /** Canonical names, distinct, in order of first appearance, title first. Both are plain text. */
  extract(title: string, description: string | null): string[];
  /** The plain text of a description (input/description-text.ts), as `extract` takes it. */
  readonly descriptionText: typeof descriptionText;
}

/** @throws SkillDictionaryError when its phrases are unsound */
export function buildSkillExtractor(dictionary: Dictionary): SkillExtractor {
  const flags = characterFlags();
  const { names, rules } = phrasesOf(dictionary, flags);
  const trie = buildPhraseTrie(rules, flags);
  return Object.freeze({
    version: skillsVersionOf(dictionary),
    descriptionText,
    extract(title: string, description: string | null): string[] {
      const found = new Set<number>();
      new Scan(preparedText(title), flags, trie).addTo(found);
      if (description !== null) new Scan(preparedText(description), flags, trie).addTo(found);
      return Array.from(found, (skill) => names[skill]!);
    },
  });
}

let loaded: SkillExtractor | undefined;

/** The extractor over the dictionary that comes with the package, read once. */
export function loadSkillExtractor(): SkillExtractor {
  loaded ??= buildSkillExtractor(readDictionary());
  return loaded;
}
