/** Names the rules of this folder and the dictionary with which skills were extracted. */
import { readPackageData } from '../package-data.ts';
import { type Dictionary, parseDictionary } from './dictionary.ts';

/** Counts changes to the rules in this folder that can change an answer. */
const ALGORITHM = 2;

/** `2.<dictionary version>.<hash of its content>` */
export function skillsVersionOf(dictionary: Dictionary): string {
  return `${ALGORITHM}.${dictionary.version}.${contentHash(JSON.stringify(dictionary))}`;
}

/** FNV-1a, 32 bits, in hexadecimal: an edit of the dictionary changes the version even if its author does not. */
function contentHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The dictionary that comes with the package. @throws SkillDictionaryError when it is unsound */
export function readDictionary(): Dictionary {
  return parseDictionary(readPackageData('skills.json'));
}
