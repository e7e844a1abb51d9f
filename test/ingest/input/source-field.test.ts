import { describe, expect, it } from 'vitest';
import { endTimeOf, flagOf, htmlOf, textOf, timeOf, urlOf } from '../../../src/ingest/input/source-field.ts';

describe('text of a source', () => {
  it.each([
    ['  stray \n blanks\t ', 'stray blanks'],
    ['no\u00a0break', 'no break'],
    ['R&amp;D', 'R&D'],
    ['R&amp;amp;D', 'R&D'],
    ['R&D and AT&T', 'R&D and AT&T'],
    ['&copy that', '&copy that'],
    ['Caf&eacute; &#8211; &#x41;', 'Café – A'],
    ['C++ <Senior>', 'C++ <Senior>'],
    [5720898004, '5720898004'],
    ['', null],
    [' \u00a0 ', null],
    ['&nbsp;', null],
    ['NaN', null],
    ['None', null],
    [null, null],
    [undefined, null],
    [{}, null],
    [true, null],
  ])('%j is %j', (value, expected) => {
    expect(textOf(value)).toBe(expected);
  });
});

describe('an address of a source', () => {
  it.each([
    [' https://a.example/x ', 'https://a.example/x'],
    ['https://a.example/a b', 'https://a.example/a%20b'],
    ['https://a.example/?a=1&amp;b=2', 'https://a.example/?a=1&b=2'],
    ['https://a.example/\nx', 'https://a.example/x'],
    ['', null],
    ['nan', null],
    [5, null],
  ])('%j is %j', (value, expected) => {
    expect(urlOf(value)).toBe(expected);
  });
});

describe('markup of a source', () => {
  it.each([
    ['<p>a</p>', '<p>a</p>'],
    ['&lt;p&gt;a&lt;/p&gt;', '&lt;p&gt;a&lt;/p&gt;'],
    ['&amp;lt;p&amp;gt;a', '&lt;p&gt;a'],
    ['<p>Know what &amp;lt;p&amp;gt; shows', '<p>Know what &amp;lt;p&amp;gt; shows'],
    ['  ', null],
    [' None\n', null],
    ['None of these', 'None of these'],
    [null, null],
  ])('%j is %j', (value, expected) => {
    expect(htmlOf(value)).toBe(expected);
  });
});

describe('a flag of a source', () => {
  it.each([
    [true, true],
    ['True', true],
    ['TRUE', true],
    ['1', true],
    [1, true],
    ['1.0', true],
    ['yes', true],
    [false, false],
    ['False', false],
    [0, false],
    ['', null],
    [null, null],
    ['maybe', null],
    [2, null],
  ])('%j is %j', (value, expected) => {
    expect(flagOf(value)).toBe(expected);
  });
});

describe('a time of a source', () => {
  const noon = Date.UTC(2026, 7, 5, 12, 0, 0);
  const midnight = Date.UTC(2026, 7, 5);
  it.each<[because: string, value: unknown, expected: number | null]>([
    ['RFC 3339', '2026-08-05T12:00:00Z', noon],
    ['an offset', '2026-08-05T08:00:00-04:00', noon],
    ['an offset without a colon', '2026-08-05T14:00:00+0200', noon],
    ['an offset of hours', '2026-08-05T14:00:00+02', noon],
    ['half an hour more', '2026-08-05T17:30:00+05:30', noon],
    ['no offset: UTC', '2026-08-05T12:00:00', noon],
    ['no offset, microseconds', '2026-08-05T12:00:00.006641', noon + 6],
    ['a blank between', '2026-08-05 12:00:00 UTC', noon],
    ['no seconds', '2026-08-05 12:00', noon],
    ['a bare date', '2026-08-05', midnight],
    ['epoch seconds', noon / 1000, noon],
    ['epoch seconds as text', String(noon / 1000), noon],
    ['epoch seconds in float form', `${noon / 1000}.0`, noon],
    ['epoch milliseconds', noon, noon],
    ['epoch milliseconds as text', String(noon), noon],
    ['epoch milliseconds in scientific form', '1.71345E+12', 1.71345e12],
    ['a Date of Parquet', new Date(noon), noon],
    ['the least of seconds', 1e8, 1e11],
    ['the least of milliseconds', 1e11, 1e11],
    ['below the least of seconds', 1e8 - 1, null],
    ['beyond milliseconds', 1e14, null],
    ['zero', 0, null],
    ['NaN', Number.NaN, null],
    ['a Date that is none', new Date(Number.NaN), null],
    ['the last Date of four-digit years', new Date('9999-12-31T23:59:59.999Z'), 253_402_300_799_999],
    ['a Date of a later year', new Date('+010000-01-01T00:00:00Z'), null],
    ['a Date before the year 0', new Date('-000001-12-31T23:59:59.999Z'), null],
    ['words', 'Posted 30+ Days Ago', null],
    ['a word', 'Posted Today', null],
    ['day and month in doubt', '03/04/2026', null],
    ['a day that is none', '2026-02-30', null],
    ['a month that is none', '2026-13-01 00:00', null],
    ['nothing', '', null],
    ['null', null, null],
  ])('%s: %j', (_because, value, expected) => {
    expect(timeOf(value)).toBe(expected);
  });

  it('takes the wide integers of Parquet', () => {
    expect(timeOf(BigInt(noon))).toBe(noon);
    expect(textOf(12n)).toBe('12');
  });

  it('as an end, a bare date is the end of its day, and a time is itself', () => {
    expect(endTimeOf('2026-08-05')).toBe(midnight + 86_400_000);
    expect(endTimeOf('2026-08-05T12:00:00Z')).toBe(noon);
    expect(endTimeOf(noon)).toBe(noon);
    expect(endTimeOf(null)).toBeNull();
  });
});
