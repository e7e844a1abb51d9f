import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOKEN_END } from '../../../src/catalogue/whole/sections.ts';
import { sortedSuffixes } from '../../../src/catalogue/whole/suffix-order.ts';

function textOf(tokens: readonly string[]): Uint8Array {
  return Buffer.concat(tokens.map((token) => Buffer.concat([Buffer.from(token), Uint8Array.of(TOKEN_END)])));
}

/** The same by plain sorting. */
function plainlySorted(text: Uint8Array): number[] {
  const endOf = (start: number): number => text.indexOf(TOKEN_END, start) + 1;
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== TOKEN_END && (text[at]! & 0xc0) !== 0x80) starts.push(at);
  }
  return starts.sort((a, b) => Buffer.compare(text.subarray(a, endOf(a)), text.subarray(b, endOf(b))) || a - b);
}

describe('the suffixes of a vocabulary', () => {
  it('are sorted as by plain comparison', () => {
    // Few letters give long equal parts; two-byte, three-byte and four-byte characters start inside none of them.
    const token = fc.string({
      unit: fc.constantFrom('a', 'a', 'b', 'é', '東', '🦀', '\u0000'),
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
        const text = textOf(tokens);
        expect([...sortedSuffixes(text)]).toEqual(plainlySorted(text));
      }),
      { numRuns: 300 },
    );
  });

  it('are sorted whatever repeats in them', () => {
    for (const tokens of [
      ['a'.repeat(256)],
      Array.from({ length: 256 }, (_, i) => 'a'.repeat(i + 1)),
      Array.from({ length: 40 }, (_, i) => `${'ab'.repeat(60)}${i}`),
    ]) {
      const text = textOf(tokens);
      expect([...sortedSuffixes(text)]).toEqual(plainlySorted(text));
    }
  });
});
