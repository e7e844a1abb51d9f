/** JSON written as bytes beside JSON.stringify. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ESCAPE_LENGTH_MAX, jsonPiece, pieceInto, stringInto, timeInto } from '../../src/base/json-bytes.ts';
import { anyCharacter } from '../support/characters.ts';

function written(text: string): string {
  const bytes = Buffer.from(`<${text}>`);
  const into = Buffer.alloc(bytes.length * ESCAPE_LENGTH_MAX);
  return into.toString('utf8', 1, stringInto(into, 1, bytes, 1, bytes.length - 1));
}

describe('a string as JSON bytes', () => {
  it('is what JSON.stringify writes, for every code unit that UTF-8 has', () => {
    for (let unit = 0; unit < 0x10000; unit += 1) {
      if (unit >= 0xd800 && unit < 0xe000) continue; // half a surrogate pair: not in UTF-8
      if (unit > 0x2ff && unit % 97 !== 0 && unit !== 0x2028 && unit !== 0x2029 && unit !== 0xfeff) continue;
      const text = `a${String.fromCharCode(unit)}b`;
      expect(written(text)).toBe(JSON.stringify(text));
    }
  });

  it('is what JSON.stringify writes, for any text', () => {
    const texts = fc.string({ unit: anyCharacter, maxLength: 60 });
    fc.assert(fc.property(texts, (text) => written(text) === JSON.stringify(text)));
  });

  it('stands between pieces that are JSON already', () => {
    const into = Buffer.alloc(100);
    const at = timeInto(into, pieceInto(into, 0, jsonPiece('[')), 0);
    expect(into.toString('utf8', 0, pieceInto(into, at, jsonPiece(',"é"]')))).toBe('["1970-01-01T00:00:00.000Z","é"]');
  });
});
