/** The dictionary's phrases, folded to the form in which the scan compares them, each with the rules for its use. */
import { BLANK, HYPHEN, isWord, preparedText } from './characters.ts';
import { type Dictionary, SkillDictionaryError } from './dictionary.ts';

/** When a phrase means a skill. A phrase has several rules when spellings or contexts tell skills apart. */
export interface Rule {
  /** Index in the dictionary; -1 = the phrase is known to mean no skill. */
  readonly skill: number;
  /** The only spelling that counts, or null. */
  readonly exact: string | null;
  /** Counts only beside a recognised skill in a list. */
  readonly list: boolean;
  /** With `list`: a capital in the middle of a sentence is enough too. */
  readonly name: boolean;
}

export interface Phrases {
  /** Canonical names, by index in the dictionary. */
  readonly names: readonly string[];
  /** By folded phrase; rules that need no context come first. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
}

/**
 * Lower case, with white space and hyphens between word characters as one blank: `T-SQL` and `t sql` are one phrase.
 */
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

/** @throws SkillDictionaryError when a phrase is listed twice, belongs to two skills or cannot be found in a text */
export function phrasesOf(dictionary: Dictionary, flags: Uint8Array): Phrases {
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
        const holder = other.skill < 0 ? 'the list of ignored phrases' : `"${names[other.skill]!}"`;
        throw new SkillDictionaryError(owner, `"${text}" belongs to ${holder} already`);
      }
      if (other.skill === rule.skill && other.exact === rule.exact && other.list === rule.list) {
        throw new SkillDictionaryError(owner, `"${text}" is listed twice`);
      }
    }
    rules.push(rule);
    rules.sort((a, b) => Number(a.list) - Number(b.list));
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
  return { names, rules: phrases };
}
