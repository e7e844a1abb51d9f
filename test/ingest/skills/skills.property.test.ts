import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSkillExtractor } from '../../../src/ingest/skills/skills.ts';
import { anyCharacter } from '../../support/characters.ts';
import { partOf } from '../../support/whole.ts';

/** Characters of a text that is to be read in linear time. */
const LONG = partOf(1_000_000, 500_000);
const extractor = loadSkillExtractor();
const dictionary = JSON.parse(readFileSync(new URL('../../../data/skills.json', import.meta.url), 'utf8')) as {
  skills: { name: string; context?: string; aliases?: (string | { text: string })[] }[];
};
const names = new Set(dictionary.skills.map(({ name }) => name));
const phrases = dictionary.skills.flatMap(({ name, aliases = [] }) => [
  name,
  ...aliases.map((alias) => (typeof alias === 'string' ? alias : alias.text)),
]);

const phrase = fc.constantFrom(...phrases);
const glue = fc.constantFrom(
  ' ',
  ', ',
  '/',
  ' and ',
  '\n',
  '\n- ',
  '.',
  '. ',
  '@',
  '://',
  '-',
  '_',
  '+',
  '#',
  '(',
  ')',
  '&',
  '<li>',
  '&amp;',
  '\t',
  '\u00a0',
  '…',
  '™',
  '\ud83d',
  'é',
  '的',
);
const text = fc
  .array(fc.oneof(phrase, glue, fc.string(), fc.string({ unit: anyCharacter })), { maxLength: 30 })
  .map((parts) => parts.join(''));

test('any two texts are read without an error, the answer is distinct names of the dictionary, and the same again', () => {
  fc.assert(
    fc.property(text, text, (title, description) => {
      const skills = extractor.extract(title, description);
      expect(new Set(skills).size).toBe(skills.length);
      for (const skill of skills) expect(names.has(skill)).toBe(true);
      expect(extractor.extract(title, description)).toEqual(skills);
      expect(() => extractor.extract(title + description, description + title)).not.toThrow();
    }),
    { numRuns: partOf(2000) },
  );
});

test('the skills of a title come first, whatever follows', () => {
  fc.assert(
    fc.property(text, text, (title, description) => {
      const own = extractor.extract(title, null);
      expect(extractor.extract(title, description).slice(0, own.length)).toEqual(own);
    }),
    { numRuns: partOf(500) },
  );
});

test('a sentence before and a sentence behind change nothing', () => {
  const words = fc.array(
    fc.constantFrom('we', 'build', 'things', 'that', 'last', 'since', '1999', 'zzz', 'q&a', 'e-mails', '(our', 'way)'),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(phrase, words, words, (middle, before, behind) => {
      const alone = extractor.extract(`. ${middle} .`, null);
      expect(extractor.extract(`${before.join(' ')}. ${middle} . ${behind.join(' ')}`, null)).toEqual(alone);
    }),
    { numRuns: partOf(2000) },
  );
});

test('a sentence break keeps two texts apart', () => {
  fc.assert(
    fc.property(phrase, phrase, (left, right) => {
      const skills = extractor.extract(`${left} . ${right} .`, null);
      const apart = [...extractor.extract(`${left} .`, null), ...extractor.extract(`${right} .`, null)];
      expect(skills).toEqual([...new Set(apart)]);
    }),
    { numRuns: partOf(2000) },
  );
});

test('letters glued to either side of a name hide it', () => {
  const letters = fc.stringMatching(/^[q-z]{3,6}$/);
  const plain = dictionary.skills.filter(({ name }) => /^[A-Za-z]{4,}$/.test(name)).map(({ name }) => name);
  fc.assert(
    fc.property(fc.constantFrom(...plain), letters, (name, tail) => {
      expect(extractor.extract(`${tail}${name} x ${name}${tail}`, null)).not.toContain(name);
    }),
    { numRuns: partOf(1000) },
  );
});

test.each([
  ['a name', 'Python '],
  ['names without a blank', 'Python/'],
  ['a list of ambiguous names', 'Go, '],
  ['the start of a phrase', 'machine '],
  ['the start of a phrase and blanks', `machine${' '.repeat(50)}`],
  ['dots', '.'],
  ['labels of a host', 'a.'],
  ['letters', 'a'],
  ['addresses', 'java@x/'],
  ['scheme marks', '://'],
  ['hyphens', 'c-'],
  ['line breaks', 'Go\n'],
  ['commas', ','],
  ['blanks', ' '],
])(`${LONG / 1000} KB of %s are read in linear time`, (_what, piece) => {
  const input = piece.repeat(Math.ceil(LONG / piece.length));
  const startedMs = performance.now();
  extractor.extract('', input);
  // Quadratic work on a megabyte would need minutes, on half of it a quarter; the bound leaves room for a busy machine.
  expect(performance.now() - startedMs).toBeLessThan(5000);
});
