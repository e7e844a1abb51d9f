import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { termCountOf, termsOf } from '../../src/catalogue/terms.ts';

describe('the terms of a filter', () => {
  it('are as many as are counted without making them', () => {
    // U+FDFA is four words once it is normalized.
    const unit = fc.constantFrom('a', 'B', '~', ' ', '  ', '\t', '\u00a0', '\u3000', 'é', '\ufdfa', '🦀');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (text) => {
        expect(termCountOf(text)).toBe(termsOf(text).length);
      }),
      { numRuns: 1000 },
    );
    for (const text of ['', ' ', 'a', 'a b', 'a b c']) expect(termCountOf(text)).toBe(termsOf(text).length);
  });
});
