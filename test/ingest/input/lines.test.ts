import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LineItem, LineSplitter } from '../../../src/ingest/input/lines.ts';

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function split(chunks: readonly Uint8Array[], lineBytesMax?: number): LineItem[] {
  const splitter = new LineSplitter(lineBytesMax);
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.finish()];
}

/** `number:text`, or `number!reason`. */
function shown(items: readonly LineItem[]): string[] {
  return items.map((item) => {
    if (item.kind === 'part') return `part ${item.bytes.length}`;
    return item.kind === 'line' ? `${item.number}:${item.text}` : `${item.number}!${item.reason}`;
  });
}

describe('bytes are split into lines', () => {
  const cases: readonly [because: string, text: string, expected: string[]][] = [
    ['nothing has no lines', '', []],
    ['a last line needs no end', 'a\nb', ['1:a', '2:b']],
    ['an end ends a line and begins none', 'a\n', ['1:a']],
    ['CRLF ends a line', 'a\r\nb\r\n', ['1:a', '2:b']],
    ['a CR at the very end is an end too', 'a\r', ['1:a']],
    ['a CR inside is content', 'a\rb\n', ['1:a\rb']],
    ['blank lines count and are not given out', '\n \t\na\n\r\n\nb\n', ['3:a', '6:b']],
    ['a BOM at the start is dropped', '\ufeffa\nb', ['1:a', '2:b']],
    ['a BOM further on is content', 'a\n\ufeffb', ['1:a', '2:\ufeffb']],
    ['only one BOM is dropped', '\ufeff\ufeffa', ['1:\ufeffa']],
    ['a BOM alone is a blank line', '\ufeff', []],
    ['other separators are content', 'a\u2028b\u0085c\n', ['1:a\u2028b\u0085c']],
  ];
  it.each(cases)('%s', (_because, text, expected) => {
    expect(shown(split([bytesOf(text)]))).toEqual(expected);
  });

  it('refuses a line that is not UTF-8, alone and byte for byte', () => {
    const bad = Uint8Array.of(0x61, 0xff, 0x62);
    const items = split([bytesOf('a\n'), bad, bytesOf('\r\nc\n')]);
    expect(shown(items)).toEqual(['1:a', '2!is not valid UTF-8', '3:c']);
    expect(items[1]!.bytes).toEqual(bad);
  });

  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a character cut short', [0xe2, 0x82]],
    ['beyond the last plane', [0xf4, 0x90, 0x80, 0x80]],
  ])('refuses %s', (_name, bytes) => {
    expect(shown(split([Uint8Array.from(bytes)]))).toEqual(['1!is not valid UTF-8']);
  });

  it('takes a line of the greatest length and hands a longer one on in parts', () => {
    expect(shown(split([bytesOf('12345678\n1234\n')], 8))).toEqual(['1:12345678', '2:1234']);
    const items = split([bytesOf('a\n12345'), bytesOf('6789'), bytesOf('abc'), bytesOf('d\nnext\n')], 8);
    expect(shown(items)).toEqual(['1:a', 'part 5', 'part 4', 'part 3', '2!is longer than 8 bytes', '3:next']);
    const line = items.slice(1, 5).map(({ bytes }) => new TextDecoder().decode(bytes));
    expect(line.join('')).toBe('123456789abcd');
  });

  it('keeps no part of a longer line, gives what waits with its end, and ends one without an end', () => {
    const splitter = new LineSplitter(8);
    const pushed = (text: string): string[] => shown([...splitter.push(bytesOf(text))]);
    expect(pushed('12345')).toEqual([]);
    expect(pushed('6789\n')).toEqual(['part 5', '1!is longer than 8 bytes']);
    expect([pushed('12345'), pushed('6789'), pushed('abc')]).toEqual([[], ['part 5', 'part 4'], ['part 3']]);
    expect(shown([...splitter.finish()])).toEqual(['2!is longer than 8 bytes']);
    expect(splitter.lineNumber).toBe(2);
    expect([shown([...splitter.finish()]), splitter.lineNumber]).toEqual([[], 2]);
  });

  it('gives the same lines however the bytes come in chunks', () => {
    const pieces = fc.array(fc.constantFrom('a', 'é', '𝄞', '\r', '\n', '\r\n', ' ', '\ufeff', '{"x":1}'), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 6, max: 12 }), (parts, size, max) => {
        const whole = bytesOf(parts.join(''));
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < whole.length; at += size) chunks.push(whole.slice(at, at + size));
        const told = (items: LineItem[]) => shown(items).filter((line) => !line.startsWith('part'));
        expect(told(split(chunks, max))).toEqual(told(split([whole], max)));
      }),
      { numRuns: 500 },
    );
  });
});
