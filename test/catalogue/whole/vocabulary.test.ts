import { describe, expect, it } from 'vitest';
import { TextTable } from '../../../src/catalogue/snapshot/text-table.ts';
import { NOT_INDEXED, type TokenizedTexts, tokenized } from '../../../src/catalogue/whole/vocabulary.ts';

const textsOf = (texts: readonly string[]) => ({ size: texts.length, textOf: (code: number) => texts[code]! });

/** Tokens of each text as words; null = it is not indexed. */
function wordsOf({ offsets, tokens }: TokenizedTexts, vocabulary: TextTable): (string[] | null)[] {
  return Array.from({ length: offsets.length - 1 }, (_, code) => {
    const numbers = [...tokens.subarray(offsets[code]!, offsets[code + 1]!)];
    return numbers[0] === NOT_INDEXED ? null : numbers.map((number) => vocabulary.textOf(number));
  });
}

describe('a vocabulary', () => {
  it('has each compared word of a text once', () => {
    const vocabulary = new TextTable();
    const texts = tokenized(textsOf(['', 'Zürich  zurich', 'Go go Rust', '¨']), vocabulary);
    expect(wordsOf(texts, vocabulary)).toEqual([[], ['zurich'], ['go', 'rust'], []]);
    expect(vocabulary.size).toBe(3);
  });

  it('leaves out texts with a word that is too long, and keeps those after them', () => {
    const vocabulary = new TextTable();
    const texts = tokenized(textsOf([`a ${'x'.repeat(256)}`, `b ${'x'.repeat(257)} c`, 'b c']), vocabulary);
    expect(wordsOf(texts, vocabulary)).toEqual([['a', 'x'.repeat(256)], null, ['b', 'c']]);
  });

  it('that is full leaves out texts with a new word only', () => {
    const vocabulary = new TextTable();
    const texts = tokenized(textsOf(['engineer data', 'data scientist', 'data engineer', 'xy']), vocabulary, 40);
    expect(wordsOf(texts, vocabulary)).toEqual([['engineer', 'data'], null, ['data', 'engineer'], ['xy']]);
  });
});
