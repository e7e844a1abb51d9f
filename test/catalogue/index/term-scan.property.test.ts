import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TermScan } from '../../../src/catalogue/index/term-scan.ts';
import { TextColumn } from '../../../src/catalogue/snapshot/text-column.ts';
import { comparedText, termsOf } from '../../../src/catalogue/terms.ts';

/** The texts as a snapshot has them: UTF-8 one after another, filled up with zeros. */
function columnOf(texts: readonly string[]): TextColumn {
  const each = texts.map((text) => new TextEncoder().encode(text));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [i, bytes] of each.entries()) offsets[i + 1] = offsets[i]! + bytes.length;
  const length = offsets[texts.length]!;
  const filled = new Uint8Array(Math.ceil(length / 8) * 8);
  for (const [i, bytes] of each.entries()) filled.set(bytes, offsets[i]);
  return new TextColumn(offsets, filled.subarray(0, length));
}

function expectAsIncludes(texts: readonly string[], term: string): void {
  const column = columnOf(texts);
  const scan = new TermScan(term);
  for (const [code, text] of texts.entries()) {
    expect(scan.isIn(column, code), JSON.stringify({ text, term })).toBe(comparedText(text).includes(term));
    if (column.isAscii(code)) expect(text).toMatch(/^[\0-\x7f]*$/);
  }
}

describe('a term is found in exactly the texts whose compared form includes it', () => {
  it('for texts of few letters in either case', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'B', ' '), maxLength: 30 });
    const term = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
    fc.assert(fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), term, expectAsIncludes), { numRuns: 400 });
  });

  it('for texts in which a letter depends on what stands beside it, or is written in several ways', () => {
    const units = [
      'e',
      'E',
      '\u0301',
      'é',
      'K',
      '\u212a',
      'k',
      'ﬁ',
      'f',
      'i',
      'İ',
      'Σ',
      'ς',
      'σ',
      'ａ',
      '東',
      '🦀',
      '@',
      '[',
      '\0',
    ];
    const text = fc.string({ unit: fc.constantFrom(...units, '\t', ' ', '\u00a0'), maxLength: 14 });
    const written = fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), written, (texts, filter) => {
        for (const term of termsOf(filter)) expectAsIncludes(texts, term);
      }),
      { numRuns: 600 },
    );
  });

  const cases: [string, string, string[]][] = [
    ['at both ends and in the middle', 'ab', ['ab', 'ABx', 'xaB', 'xabx', 'a b', 'xa', 'bx']],
    ['longer than a text', 'abcdef', ['abcde', '', 'abcdef']],
    ['of one letter', 'r', ['R', 'Go', 'err', '']],
    ['that ends where the next text begins', 'ab', ['xa', 'bx']],
    ['before an accent that makes another letter of its end', 'cafe', ['cafe\u0301', 'cafe', 'cafe x\u0301']],
    ['that is no ASCII', 'é', ['caf\u00c9', 'cafe\u0301', 'cafe']],
    ['of signs that differ from others by the bit of the case', '@`', ['@`', '``', '@@']],
  ];
  for (const [title, term, texts] of cases) it(`for a term ${title}`, () => expectAsIncludes(texts, term));
});
