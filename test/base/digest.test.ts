import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Hmac,
  isSameDigest,
  keyedDigest,
  sha256,
  sha256Base64Url,
  sha256Hex,
  sha256Latin1,
  sha256OfParts,
} from '../../src/base/digest.ts';

describe('SHA-256 of a text', () => {
  // FIPS 180-4, and a text whose UTF-8 has two and four bytes a character.
  it.each(['', 'abc', 'köln 🙂', 'x'.repeat(10_000)])('of %j is the same in each form', (text) => {
    const expected = createHash('sha256').update(text).digest();
    expect(Buffer.from(sha256(text)).equals(expected)).toBe(true);
    expect(sha256Latin1(text)).toBe(expected.toString('latin1'));
    expect(sha256Hex(text)).toBe(expected.toString('hex'));
    expect(sha256Base64Url(text)).toBe(expected.toString('base64url'));
  });

  it('of "abc" is the one in FIPS 180-4', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

it('SHA-256 of parts depends on each of them, their order, and where each ends', () => {
  const of = (...parts: string[]): string => sha256OfParts(parts.map((part) => Buffer.from(part)));
  const digests = [of(), of(''), of('ab'), of('a', 'b'), of('b', 'a'), of('a', 'b', ''), of('', 'ab'), of('a', 'c')];
  expect(new Set(digests).size).toBe(digests.length);
  expect(of('a', 'b')).toBe(of('a', 'b'));
});

describe('two digests', () => {
  it.each([0, 1, 31, 32, 33, 53, 54, 1_000, 10_000])(
    'compare without a fault for a text of %i characters',
    (length) => {
      const own = sha256('own');
      expect(isSameDigest(own, sha256('x'.repeat(length)))).toBe(false);
      expect(isSameDigest(own, own.slice())).toBe(true);
    },
  );

  it('differ in any single bit, the last one too, and in length', () => {
    const own = sha256('token');
    for (let bit = 0; bit < 256; bit++) {
      const other = own.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect(isSameDigest(own, other)).toBe(false);
    }
    expect(isSameDigest(own, own.slice(0, 31))).toBe(false);
  });
});

describe('HMAC-SHA-256', () => {
  it('is that of the runtime, for any key of at most a block, text and bytes, one after another', () => {
    const keys = fc.uint8Array({ maxLength: 64 });
    const texts = fc.string({ unit: 'grapheme', maxLength: 400 });
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(keys, fc.array(fc.tuple(texts, bytes), { minLength: 1, maxLength: 4 }), (key, messages) => {
        const hmac = new Hmac(key);
        for (const [text, more] of messages) {
          expect(hmac.of(text, more)).toBe(createHmac('sha256', key).update(text).update(more).digest('latin1'));
        }
      }),
    );
  });

  it.each([
    ['a character of three bytes', '\u20ac'.repeat(180), 0],
    ['a long text', 'x'.repeat(5_000), 0],
    ['many bytes', '', 600],
  ])('is that of the runtime for %s, more than the prepared memory holds', (_, text, count) => {
    const [key, bytes] = [Buffer.from('key'), new Uint8Array(count).fill(7)];
    const hmac = new Hmac(key);
    for (let i = 0; i < 2; i++) {
      expect(hmac.of(text, bytes)).toBe(createHmac('sha256', key).update(text).update(bytes).digest('latin1'));
    }
  });

  it('gives half of itself as a keyed digest', () => {
    const key = Buffer.from('the key of these books, 32 bytes');
    const digest = keyedDigest(key);
    for (const text of ['', 'GET /v1/jobs/search?keyword=köln', 'x'.repeat(5_000)]) {
      expect(digest(text)).toBe(createHmac('sha256', key).update(text).digest('hex').slice(0, 32));
    }
  });

  it('takes no longer key', () => {
    expect(() => new Hmac(new Uint8Array(65))).toThrow(/longer than a block/);
  });
});
