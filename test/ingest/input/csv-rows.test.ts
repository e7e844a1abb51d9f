import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRows } from '../../../src/ingest/input/csv-rows.ts';

const rowsOf = (text: string, isLast = true) => csvRows(text, ',', '\n', isLast);

describe('CSV rows', () => {
  it.each([
    {
      text: 'a,b\nc,d\n',
      rows: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      because: 'a line end after the last row adds none',
    },
    {
      text: 'a,b\nc,',
      rows: [
        ['a', 'b'],
        ['c', ''],
      ],
      because: 'the last row needs no line end',
    },
    {
      text: '"a,\n""b""",c',
      rows: [['a,\n"b"', 'c']],
      because: 'a quoted field holds marks, and doubled quotes are one',
    },
    { text: '"a"",b",c', rows: [['a",b', 'c']], because: 'a doubled quote closes nothing, though a mark follows it' },
    { text: 'a\n"b" ', rows: [['a'], ['b']], because: 'the end of the text may follow the closing quote' },
    { text: 'a"b,"c" \t,d', rows: [['a"b', 'c', 'd']], because: 'blanks may follow the closing quote' },
    { text: '"a" b",c', rows: [['a" b', 'c']], because: 'a quote that no mark follows is text' },
    { text: '"a"\r\nb', rows: [['a'], ['b']], because: 'the CR of a CRLF is a blank' },
    { text: ',\n\n"",', rows: [['', ''], [''], ['', '']], because: 'empty fields and lines are kept' },
  ])('reads $text: $because', ({ text, rows }) => {
    expect(rowsOf(text)).toEqual({ rows, end: text.length, isOpen: false });
  });

  it('says that a quoted field does not end', () => {
    expect(rowsOf('a\n"b,c\n')).toEqual({ rows: [['a']], end: 2, isOpen: true });
  });

  it('gives the whole rows of a piece that others follow', () => {
    const rows = [['a', 'b"'], ['c']];
    expect(rowsOf('a,"b"""\nc\nd,"e" ,f', false)).toEqual({ rows, end: 10, isOpen: false });
    expect(rowsOf('a,"b"""\nc\nd,"e', false)).toEqual({ rows, end: 10, isOpen: true });
  });

  it('leaves the last row to the next piece, and gives the same rows however the text is cut', () => {
    const piece = fc.constantFrom('"', '""', ',', '\n', ' ', '\r', 'a', 'bc', '",', '"\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), fc.nat(40), (pieces, cut) => {
        const text = pieces.join('');
        const first = rowsOf(text.slice(0, cut), false);
        const rest = rowsOf(text.slice(0, cut).slice(first.end) + text.slice(cut), true);
        const whole = rowsOf(text);
        if (whole.isOpen) expect(rest.isOpen).toBe(true);
        const filled = (rows: string[][]) => rows.filter((row) => row.some((cell) => cell !== ''));
        expect(filled([...first.rows, ...rest.rows])).toEqual(filled(whole.rows));
      }),
      { numRuns: 2000 },
    );
  });
});
