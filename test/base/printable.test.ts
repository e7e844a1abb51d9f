import { describe, expect, it } from 'vitest';
import { PRINTED_LENGTH_MAX, printable, printableLines } from '../../src/base/printable.ts';

describe('printable text', () => {
  it.each([
    ['\u001b]0;owned\u0007', '\\u001b]0;owned\\u0007', 'escape codes of terminals begin with ESC'],
    ['\u009b2J\u007f', '\\u009b2J\\u007f', 'C1 controls and DEL act on terminals too'],
    ['a\u202eb\u2066c\u2069', 'a\\u202eb\\u2066c\\u2069', 'overrides and isolates reorder what follows'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c', 'they break lines in some programs'],
    ['\ud800x\udfff', '\\ud800x\\udfff', 'half a pair is no character'],
    ['a\r\tb', 'a\\u000d\\u0009b', 'a carriage return rewrites its line'],
    ['Zürich 東京 😀 \u0644\u200f"\\', 'Zürich 東京 😀 \u0644\u200f"\\', 'all other text stays'],
  ])('writes %j as %s: %s', (text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(printableLines(text)).toBe(shown);
  });

  it('keeps line feeds only in text of many lines', () => {
    expect(printableLines('a\nb\r\n')).toBe('a\nb\\u000d\n');
    expect(printable('a\nb')).toBe('a\\u000ab');
  });

  it('cuts a name that is too long', () => {
    expect(printable('x'.repeat(PRINTED_LENGTH_MAX))).toBe('x'.repeat(PRINTED_LENGTH_MAX));
    expect(printable('x'.repeat(PRINTED_LENGTH_MAX + 1))).toBe(`${'x'.repeat(PRINTED_LENGTH_MAX)}…`);
    expect(printable('abc', 2)).toBe('ab…');
  });

  it('leaves JSON the same value', () => {
    const value = { 'a\u0000\u001b\u009b': ['\u202e\n\ud800', '\u2028'] };
    expect(JSON.parse(printableLines(JSON.stringify(value)))).toEqual(value);
  });
});
