/** JSON is set out in lines without a value being touched. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexLines, hexText, sizeText } from '../../pages/bytes.js';
import { piecesOf } from '../../pages/json-text.js';

const inLines = (json: string): string =>
  piecesOf(json)
    .map(({ text }) => text)
    .join('');

describe('JSON in lines', () => {
  it('is what JSON.stringify makes of any value, however it was spaced', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\r\n '), (value, spacing) => {
        const sent = JSON.stringify(value, null, spacing as string | number | undefined);
        expect(inLines(sent)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it.each([
    ['12345678901234567890', 'a number larger than a script holds'],
    ['1.0', 'a number that would be written shorter'],
    ['-0', 'a sign that would go'],
    ['"\\u00e9\\/"', 'escapes that would be written otherwise'],
    ['"{\\"a\\": [1,2]}"', 'JSON inside of text'],
    ['"\\\\"', 'an escaped backslash before the end'],
  ])('keeps %s, %s', (json) => {
    expect(inLines(json)).toBe(json);
  });

  it('keeps keys that are there twice, in their order', () => {
    expect(inLines('{"b":1,"a":2,"b":3}')).toBe('{\n  "b": 1,\n  "a": 2,\n  "b": 3\n}');
  });

  it('tells names from texts', () => {
    expect(piecesOf('{"a":"a"}').map(({ kind }) => kind)).toEqual([
      'mark',
      'space',
      'name',
      'mark',
      'text',
      'space',
      'mark',
    ]);
  });
});

describe('bytes in lines', () => {
  it('come back out of their digits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(Buffer.from(hexText(bytes), 'hex')).toEqual(Buffer.from(bytes));
        const digits = hexLines(bytes)
          .split('\n')
          .map((line) => line.slice(7, 57).replaceAll(' ', ''));
        expect(digits.join('')).toBe(hexText(bytes));
      }),
    );
  });

  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1.0 KiB (1,024 bytes)'],
    [262_144, '256 KiB (262,144 bytes)'],
  ])('%i is shown as %s', (count, text) => {
    expect(sizeText(count)).toBe(text);
  });
});
