import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitSet } from '../../../src/base/bitset.ts';
import { resultOf } from '../../../src/base/steps.ts';
import { buildTermIndex, type IndexedField, TermIndex } from '../../../src/catalogue/index/term-index.ts';
import { INDEX_UNITS_MAX, TERM_BITMAPS_MAX } from '../../../src/catalogue/limits.ts';
import { expectEqual } from '../../support/expect-equal.ts';
import { partOf } from '../../support/whole.ts';

/** One text a row, equal ones not put together. */
function fieldOf(texts: readonly string[]): IndexedField {
  const count = texts.length;
  return {
    texts: texts.map((text) => text.split(' ')),
    numbers: Uint32Array.from({ length: count }, (_, i) => i),
    offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i),
  };
}

function rowsWith(index: TermIndex, term: string, rowCount: number): number[] {
  const rows = new BitSet(rowCount);
  const found = index.find(term);
  if (found !== undefined) index.writeRows(found, rows);
  return rows.first(rowCount);
}

/** Every piece of every token, some pieces that lie in none, and units on both sides of what the tokens have. */
function termsFor(texts: readonly string[]): Set<string> {
  const terms = new Set<string>(['zz', 'a\uffff', '\u0000', '\uffff', 'aab', 'é']);
  for (const token of texts.flatMap((text) => text.split(' '))) {
    for (let start = 0; start < token.length; start++) {
      for (let end = start + 1; end <= token.length; end += end - start < 12 ? 1 : 7) {
        terms.add(token.slice(start, end)).add(`${token.slice(start, end)}a`);
      }
    }
  }
  terms.delete('');
  return terms;
}

/** The same rows as a set, as a list and with bitmaps that lie among others. */
function expectAsIncludes(texts: readonly string[], terms: Iterable<string> = termsFor(texts)): void {
  const rowCount = texts.length;
  const index = resultOf(buildTermIndex(rowCount, [fieldOf(texts)]))!;
  const moved = new TermIndex(index.data);
  moved.moveBitmaps(new Int32Array(moved.bitmapsLength + 7), 5);
  const list = new Uint16Array(rowCount);
  const scratch = new BitSet(rowCount);
  for (const term of terms) {
    const because = (): string => JSON.stringify(term);
    const expected = texts.flatMap((text, row) => (text.includes(term) ? [row] : []));
    expectEqual(rowsWith(index, term, rowCount), expected, because);
    expectEqual(rowsWith(moved, term, rowCount), expected, because);
    const found = index.find(term);
    expectEqual(found === undefined, expected.length === 0, because);
    if (found === undefined) continue;
    expectEqual(found.rowCountMax >= expected.length, true, because);
    if (found.rowCountMax > rowCount) continue;
    const listed = index.listRows(found, list, scratch);
    expectEqual(
      [...list.subarray(0, listed)].sort((a, b) => a - b),
      expected,
      because,
    );
  }
}

describe('a term is found in exactly the rows whose text includes it', () => {
  it('for texts of few letters, where most suffixes begin alike', () => {
    const token = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 60 });
    const text = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join(' '));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => expectAsIncludes(texts)),
      { numRuns: partOf(60) },
    );
  });

  it('for tokens that begin alike for longer than what is packed at first', () => {
    const pieces = fc.array(fc.constantFrom('a', 'ab', 'aab'), { minLength: 1, maxLength: 5 });
    const token = fc.tuple(pieces, fc.integer({ min: 1, max: 12 })).map(([each, times]) => each.join('').repeat(times));
    fc.assert(
      fc.property(fc.array(token, { minLength: 2, maxLength: 8 }), (texts) => expectAsIncludes(texts)),
      { numRuns: partOf(60) },
    );
  });

  it('for texts of any characters, U+0000 and halves of pairs included', () => {
    const unit = fc.constantFrom('\u0000', 'a', 'é', '\ud83e\udd80', '\ud83e\udd81', '\uffff', '東');
    const text = fc.string({ unit, minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => expectAsIncludes(texts)),
      { numRuns: partOf(60) },
    );
  });

  const cases: [string, string[]][] = [
    ['one letter over and over, in tokens of many lengths', Array.from({ length: 70 }, (_, i) => 'a'.repeat(i + 1))],
    ['a token that is the end of others', ['ngineer', 'engineer', 'r', 'er er er', 'reengineer']],
    ['a period that is longer than what is packed at first', ['abcdefghijklmnopqrstuvwxyz'.repeat(4)]],
    ['no row', []],
    ['an empty text', ['', 'a']],
    ['a token in every row, which has a bitmap', Array.from({ length: 400 }, (_, i) => `all ${i % 7} x${i}`)],
    ['a piece of a word in more rows than the word', Array.from({ length: 300 }, (_, i) => `${i % 9}engine${i % 4}`)],
  ];
  for (const [title, texts] of cases) it(`for ${title}`, () => expectAsIncludes(texts));

  it('for more frequent pieces of words than there are bitmaps', () => {
    const tokens = Array.from({ length: TERM_BITMAPS_MAX + 50 }, (_, i) => `t${i * 7919}`);
    // Each token in more rows than are ever listed instead of a bitmap, but for the last ones, which two rows have.
    const texts = Array.from({ length: 90 }, (_, row) => tokens.slice(0, row < 2 ? undefined : -3).join(' '));
    expectAsIncludes(texts, ['t', 't7919', '919', '99', tokens.at(-1)!, `${tokens.at(-4)!} `.trim(), 'zz', 't79190']);
  });

  it('for a token of 30000 equal letters, in less than quadratic time', () => {
    const index = resultOf(buildTermIndex(2, [fieldOf(['a'.repeat(30_000), 'ab'])]))!;
    expect(rowsWith(index, 'a'.repeat(1000), 2)).toEqual([0]);
    expect(rowsWith(index, 'a', 2)).toEqual([0, 1]);
    expect(rowsWith(index, 'ab', 2)).toEqual([1]);
  });
});

describe('the text of one index is bounded', () => {
  // A list of rows, and more of them than are ever listed instead of a bitmap.
  for (const rowCount of [1, partOf(300, 90)]) {
    it(`and an index of ${rowCount} rows and one code unit more is not built`, () => {
      const unitsMax = INDEX_UNITS_MAX;
      // Each token counts one unit more than it has letters. Numbers, since one letter over and over takes long.
      let token = '';
      for (let i = 0; token.length < unitsMax; i++) token += String(i);
      const texts = (length: number): string[] => Array.from({ length: rowCount }, () => token.slice(0, length));
      expect(resultOf(buildTermIndex(rowCount, [fieldOf(texts(unitsMax))]))).toBe(undefined);
      expect(resultOf(buildTermIndex(rowCount, [fieldOf(texts(unitsMax - 1))]))).not.toBe(undefined);
    });
  }
});
