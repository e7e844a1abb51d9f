/**
 * Any character, like `fc.string({ unit: 'binary' })`. That unit first builds a table of all 1.1 million, which takes
 * as long as hundreds of thousands of runs.
 */
import fc from 'fast-check';

const SURROGATES_START = 0xd800;
const SURROGATES = 0x800;
const CODE_POINT_MAX = 0x10ffff;

/** One code point that is no surrogate. */
export const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: CODE_POINT_MAX - SURROGATES }).map(
  (n) => String.fromCodePoint(n < SURROGATES_START ? n : n + SURROGATES),
  (character) => {
    if (typeof character !== 'string' || [...character].length !== 1) throw new Error('not one character');
    const codePoint = character.codePointAt(0)!;
    return codePoint < SURROGATES_START ? codePoint : codePoint - SURROGATES;
  },
);

const IN_QUERIES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?";

/** The query of a URL without its `?` (RFC 3986 §3.4): its own characters, and percent-encoded ones. */
export const anyQuery: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    { arbitrary: fc.constantFrom(...IN_QUERIES), weight: 9 },
    { arbitrary: anyCharacter.map(encodeURIComponent), weight: 1 },
  ),
});
