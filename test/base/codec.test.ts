import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBase64,
  decodeHex,
  decodeUtf8,
  decodeUtf8Latin1,
  encodeBase64,
  encodeHex,
  encodeUtf8,
} from '../../src/base/codec.ts';
import { anyCharacter } from '../support/characters.ts';

const latin1Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

describe('base64', () => {
  it('gives back what it was given, padded and unpadded, as the runtime writes it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(encodeBase64(bytes)).toBe(text);
        expect(decodeBase64(text)).toBe(latin1Of(bytes));
        expect(decodeBase64(text.replace(/=+$/, ''))).toBe(latin1Of(bytes));
      }),
    );
  });

  it('encodes more bytes than a call takes arguments', () => {
    const bytes = new Uint8Array(300_000).fill(251);
    expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
  });

  const REFUSED: readonly [string, string][] = [
    ['A', 'one digit is no byte'],
    ['AAAAA', 'five digits are no whole bytes'],
    ['e31=', 'the unused bits of the last digit are set'],
    ['e3', 'the unused bits of an unpadded digit are set'],
    ['e30==', 'too much padding'],
    ['AA=', 'too little padding'],
    ['AAA==', 'too much padding after three digits'],
    ['=', 'padding alone'],
    ['====', 'padding alone'],
    ['AAAA====', 'padding after whole bytes'],
    ['AA=A', 'padding in the middle'],
    ['e3 0=', 'a blank'],
    ['e30=\n', 'a line end'],
    [' e30=', 'a leading blank'],
    ['e30=, e30=', 'two values joined by the runtime'],
    ['-_-_', 'the URL-safe alphabet'],
    ['e3.0', 'a character of no alphabet'],
    ['e3\u01300', 'a letter beyond ASCII'],
  ];
  it.each(REFUSED)('refuses %j because of %s', (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it('accepts nothing as nothing', () => {
    expect(decodeBase64('')).toBe('');
  });
});

describe('hex', () => {
  it('gives back what it was given in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = encodeHex(bytes);
        expect(text).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
        expect([...(decodeHex(text) ?? [])]).toEqual([...bytes]);
        expect([...(decodeHex(`0x${text.slice(2).toUpperCase()}`) ?? [])]).toEqual([...bytes]);
      }),
    );
  });

  it.each(['', '0', '00', '0x0', '0x0g', '0xg0', '0X00', '0x0\u0130', '0x 0', '0x00 '])('refuses %j', (text) => {
    expect(decodeHex(text)).toBeUndefined();
  });
});

describe('UTF-8', () => {
  it('keeps a byte order mark, which JSON then refuses', () => {
    expect(decodeUtf8(encodeUtf8('\ufeff{}'))).toBe('\ufeff{}');
    expect(decodeUtf8Latin1(latin1Of(encodeUtf8('\ufeff{}')))).toBe('\ufeff{}');
  });

  it('is the same from bytes as code units', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 50 }), (text) => {
        expect(decodeUtf8Latin1(latin1Of(encodeUtf8(text)))).toBe(text);
      }),
    );
  });

  it.each([[[0xc3]], [[0xff]], [[0xed, 0xa0, 0x80]], [[0xc0, 0xaf]]])('refuses the bytes %j', (bytes) => {
    expect(decodeUtf8(new Uint8Array(bytes))).toBeUndefined();
    expect(decodeUtf8Latin1(latin1Of(new Uint8Array(bytes)))).toBeUndefined();
  });
});
