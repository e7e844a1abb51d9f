/** How texts compare (decisions §3, "Order, cohort, matching"). */
import { describe, expect, it } from 'vitest';
import { comparedText, termsOf } from '../../src/catalogue/terms.ts';

const EQUAL: readonly (readonly [string, string, string])[] = [
  ['Zürich', 'zurich', 'an accent is left out'],
  ['Mu\u0308nchen', 'München', 'composed and decomposed letters are alike'],
  ['\u212bngström', 'angstrom', 'the Angstrom sign is the letter A with a ring'],
  ['İstanbul', 'istanbul', 'the dotted capital I becomes i and a mark of its own'],
  ['ﬁnance', 'finance', 'a ligature is its letters'],
  ['ﬃ', 'ffi', 'a ligature of three letters is three letters'],
  ['한국어', '\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165', 'Hangul syllables are composed again'],
  ['ＳＡＬＥＳ', 'sales', 'wide letters are letters'],
  ['Crème\u00a0\u3000Brûlée', ' creme brulee\t', 'white space is one blank, none at the ends'],
  ['ὈΔΥΣΣΕΎΣ', 'οδυσσευς', 'breathings and accents are left out'],
  ['e\u0301\u0328', 'e', 'several marks are left out'],
  ['Ⅳ', 'iv', 'a numeral is its letters'],
];

const DIFFERENT: readonly (readonly [string, string, string])[] = [
  ['ıssız', 'issiz', 'the dotless i has no mark to leave out'],
  ['Straße', 'strasse', 'lower case keeps the sharp s'],
  ['ガ', 'カ', 'the voiced sound mark is no mark of U+0300 to U+036F'],
  ['C++', 'C', 'signs count'],
  ['ø', 'o', 'a stroke does not come off'],
];

describe('two texts compare', () => {
  for (const [one, other, because] of EQUAL) {
    it(`as equal: ${one} and ${other}, because ${because}`, () => {
      expect(comparedText(one)).toBe(comparedText(other));
    });
  }
  for (const [one, other, because] of DIFFERENT) {
    it(`as different: ${one} and ${other}, because ${because}`, () => {
      expect(comparedText(one)).not.toBe(comparedText(other));
    });
  }
});

it('splits a filter into terms after folding, so that a mark alone is none', () => {
  expect(termsOf('Zürich\u00a0 Köln')).toEqual(['zurich', 'koln']);
  for (const text of ['\u0301', ' \u0308 ', '\u00a8', '\u00b4 \u00b8']) expect(termsOf(text)).toEqual([]);
});
