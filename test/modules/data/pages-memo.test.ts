/** Which answers of the Jobs Data API are remembered. */
import { describe, expect, it } from 'vitest';
import type { ServedCatalogue } from '../../../src/catalogue/holder.ts';
import { NOT_FOUND, refuse } from '../../../src/http/errors.ts';
import { dataText, PagesMemo } from '../../../src/modules/data/pages-memo.ts';

const served = (): ServedCatalogue => ({ catalogue: {}, isSynthetic: false }) as unknown as ServedCatalogue;

/** A memo, and how often each question was made. */
function counted() {
  const memo = new PagesMemo();
  const made: string[] = [];
  const ask = (catalogue: ServedCatalogue, question: string, length = 10): string =>
    memo
      .over<never>(catalogue, question, () => {
        made.push(question);
        return dataText(question.padEnd(length), 1);
      })
      .beginning.text.slice('{"data":'.length);
  return { ask, made, memo };
}

describe('the memo of pages', () => {
  it('keeps an answer at its second use, until another catalogue is served', () => {
    const { ask, made } = counted();
    const [first, second] = [served(), served()];
    for (let i = 0; i < 5; i++) expect(ask(first, 'a')).toBe('a'.padEnd(10));
    expect(made).toEqual(['a', 'a']);
    ask(second, 'a');
    ask(second, 'a');
    ask(second, 'a');
    expect(made).toEqual(['a', 'a', 'a', 'a']);
  });

  it('remembers four thousand questions that were asked once, and forgets them all for one more', () => {
    const { ask, made } = counted();
    const catalogue = served();
    for (const question of ['a', 'b', 'a', 'a']) ask(catalogue, question);
    expect(made).toEqual(['a', 'b', 'a']);
    for (let i = 0; i < 4096; i++) ask(catalogue, `${i}`);
    made.length = 0;
    for (let i = 0; i < 4; i++) ask(catalogue, '0');
    expect(made).toEqual(['0', '0']);
  });

  it('keeps no refusal, and no answer of a million characters', () => {
    const { ask, made, memo } = counted();
    const catalogue = served();
    const refused = refuse(NOT_FOUND, 'nothing');
    for (let i = 0; i < 3; i++) expect(memo.over(catalogue, 'r', () => refused)).toBe(refused);
    for (let i = 0; i < 4; i++) ask(catalogue, 'long', 1_000_001);
    expect(made).toHaveLength(4);
  });

  it('drops all of them rather than hold more than eight million characters', () => {
    const { ask, made } = counted();
    const catalogue = served();
    const twice = (question: string): void => {
      ask(catalogue, question, 900_000);
      ask(catalogue, question, 900_000);
    };
    for (const question of 'abcdefgh') twice(question);
    made.length = 0;
    ask(catalogue, 'h');
    expect(made).toEqual([]);
    for (const question of 'ij') twice(question);
    made.length = 0;
    for (const question of 'ij') ask(catalogue, question);
    expect(made).toEqual([]);
    ask(catalogue, 'h');
    expect(made).toEqual(['h']);
  });
});
