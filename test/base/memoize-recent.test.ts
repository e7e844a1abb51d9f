import { describe, expect, it } from 'vitest';
import { memoizeRecent } from '../../src/base/memoize-recent.ts';

describe('what was answered lately', () => {
  const counted = (countMax: number, lengthMax: number) => {
    const asked: string[] = [];
    const answer = memoizeRecent(
      (text) => {
        asked.push(text);
        return { text };
      },
      countMax,
      lengthMax,
    );
    return { asked, answer };
  };

  it('is not computed a third time, and is the same value', () => {
    const { asked, answer } = counted(2, 10);
    expect(answer('a')).toEqual({ text: 'a' });
    const second = answer('a');
    expect(answer('a')).toBe(second);
    expect(answer('a')).toBe(second);
    expect(asked).toEqual(['a', 'a']);
  });

  it('is forgotten as a whole when it is too much', () => {
    const { asked, answer } = counted(2, 10);
    for (const text of ['a', 'a', 'b', 'b', 'c', 'c']) expect(answer(text)).toEqual({ text });
    expect(asked).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    for (const text of ['c', 'a', 'b']) answer(text);
    expect(asked.slice(6)).toEqual(['a', 'b']);
  });

  it('is not kept for texts that come once, however many there are', () => {
    const { asked, answer } = counted(2, 10);
    for (let i = 0; i < 1000; i++) expect(answer(String(i))).toEqual({ text: String(i) });
    expect(asked).toHaveLength(1000);
    answer('999');
    answer('999');
    expect(asked).toHaveLength(1001);
  });

  it('is not kept for a long text', () => {
    const { asked, answer } = counted(2, 3);
    for (const text of ['four', 'four', 'four', 'two']) expect(answer(text)).toEqual({ text });
    expect(asked).toEqual(['four', 'four', 'four', 'two']);
  });
});
