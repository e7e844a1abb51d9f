/** JSON texts with a kept beginning: the bytes are those of the text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptBeginning, KeptJson } from '../../src/http/hot/kept-json.ts';

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('JSON with a kept beginning', () => {
  it('has the bytes of its text, whatever the beginning and the end are', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(texts, fc.array(texts, { minLength: 1, maxLength: 4 }), (text, ends) => {
        const beginning = new KeptBeginning(text);
        for (const end of ends) {
          const json = new KeptJson(beginning, end);
          expect(json.text).toBe(text + end);
          expect(decoded(json.bytes())).toBe(json.text);
        }
      }),
    );
  });

  it('has room for any length, and nothing of a longer one before it', () => {
    for (const length of [10, 65_530, 1_000_000, 10]) {
      const json = new KeptJson(new KeptBeginning('é'.repeat(length)), '🙂'.repeat(length));
      expect(decoded(json.bytes()) === json.text).toBe(true);
    }
  });
});
