import { describe, expect, it } from 'vitest';
import { recent } from '../../src/base/recent.ts';

describe('what was answered lately', () => {
  const counted = (countMax: number, lengthMax: number) => {
    const asked: string[] = [];
    const answer = recent(
      (text) => {
        asked.push(text);
        return { text };
      },
      countMax,
      lengthMax,
    );
    return { asked, answer };
  };

  it('is not computed again, and is the same value', () => {
    const { asked, answer } = counted(2, 10);
    const first = answer('a');
    expect(first).toEqual({ text: 'a' });
    expect(answer('a')).toBe(first);
    expect(asked).toEqual(['a']);
  });

  it('is forgotten as a whole when it is too much', () => {
    const { asked, answer } = counted(2, 10);
    for (const text of ['a', 'b', 'a', 'b', 'c', 'c', 'a']) expect(answer(text)).toEqual({ text });
    expect(asked).toEqual(['a', 'b', 'c', 'a']);
  });

  it('is not kept for a long text', () => {
    const { asked, answer } = counted(2, 3);
    for (const text of ['four', 'four', 'two']) expect(answer(text)).toEqual({ text });
    expect(asked).toEqual(['four', 'four', 'two']);
  });
});
