import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateInName, parseDateTime } from '../../src/base/date-time.ts';
import { isoTime } from '../../src/base/iso-time.ts';

describe('a date-time is read strictly', () => {
  const taken: readonly [text: string, iso: string, because: string][] = [
    ['2026-11-20', '2026-11-20T00:00:00.000Z', 'a bare date is midnight UTC'],
    ['2026-11-20T09:08:07Z', '2026-11-20T09:08:07.000Z', 'whole seconds'],
    ['2026-11-20t09:08:07z', '2026-11-20T09:08:07.000Z', 'the letters may be small'],
    ['2026-11-20T09:08:07.1Z', '2026-11-20T09:08:07.100Z', 'one digit is tenths'],
    ['2026-11-20T09:08:07.9999999Z', '2026-11-20T09:08:07.999Z', 'a fraction is cut, not rounded'],
    ['2026-11-20T00:30:00+02:00', '2026-11-19T22:30:00.000Z', 'an offset may cross midnight'],
    ['2026-11-20T23:30:00-05:45', '2026-11-21T05:15:00.000Z', 'offsets have minutes'],
    ['2026-11-20T09:08:07-00:00', '2026-11-20T09:08:07.000Z', 'an unknown local offset is UTC'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', 'a leap day'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z', 'a century divisible by 400 has one'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z', 'a leap second'],
    ['2017-01-01T08:59:60+09:00', '2017-01-01T00:00:00.000Z', 'the same one in Japan'],
    ['0000-01-01', '0000-01-01T00:00:00.000Z', 'the first year'],
    ['0099-12-31', '0099-12-31T00:00:00.000Z', 'a two-digit year is not of the last century'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', 'the last moment'],
  ];
  it.each(taken)('%s is %s: %s', (text, iso) => {
    expect(isoTime(parseDateTime(text)!)).toBe(iso);
  });

  const refused: readonly [text: string, because: string][] = [
    ['', 'empty'],
    ['2026-11-20T09:08:07', 'a time needs an offset'],
    ['2026-11-20 09:08:07Z', 'a blank is no T'],
    ['2026-11-20T09:08Z', 'seconds are needed'],
    ['2026-11-20T09:08:07.Z', 'a point without digits'],
    ['2026-11-20T09:08:07+0200', 'the offset needs its colon'],
    ['2026-11-20T09:08:07+24:00', 'no such offset'],
    ['2026-11-20T09:08:07+00:60', 'no such offset'],
    ['2026-11-20T24:00:00Z', 'the day has no hour 24'],
    ['2026-11-20T09:60:00Z', 'no such minute'],
    ['2026-11-20T09:08:61Z', 'no such second'],
    ['2026-11-20T09:08:60Z', 'no leap second in the middle of a day'],
    ['2026-11-20T23:59:60Z', 'no leap second in the middle of a month'],
    ['2026-02-29', 'no leap year'],
    ['1900-02-29', 'a century is no leap year'],
    ['2026-04-31', 'April has 30 days'],
    ['2026-13-01', 'no such month'],
    ['2026-00-10', 'no month zero'],
    ['2026-01-00', 'no day zero'],
    ['2026-1-1', 'two digits each'],
    ['20261120', 'hyphens are needed'],
    ['+012026-11-20', 'four digits of the year'],
    ['0000-01-01T00:00:00+00:01', 'before the first year'],
    ['9999-12-31T23:59:59-00:01', 'after the last year'],
    ['2026-11-20\n', 'nothing may follow'],
    [' 2026-11-20', 'nothing may stand before'],
    ['２０２６-11-20', 'digits are ASCII'],
    ['1795000000', 'epoch seconds'],
  ];
  it.each(refused)('%j is refused: %s', (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });

  it('gives back every moment that it writes', () => {
    const moment = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
    fc.assert(fc.property(moment, (timeMs) => parseDateTime(isoTime(timeMs)) === timeMs));
  });

  it('agrees with the calendar of the platform on every day', () => {
    const text = fc
      .tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 }))
      .map(([year, month, day]) => {
        const two = (value: number) => String(value).padStart(2, '0');
        return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
      });
    fc.assert(
      fc.property(text, (date) => {
        const platformMs = Date.parse(`${date}T00:00:00.000Z`);
        // Platforms roll 30 February over into March; a date that is written back differently was no date.
        const real = !Number.isNaN(platformMs) && new Date(platformMs).toISOString().startsWith(date);
        expect(parseDateTime(date)).toBe(real ? platformMs : undefined);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the date in a name', () => {
  it.each<[name: string, iso: string | null, because: string]>([
    ['acme.2026-08-21.json', '2026-08-21T00:00:00.000Z', 'a date is midnight UTC'],
    ['20260821T204150Z.json', '2026-08-21T20:41:50.000Z', 'it may be written together, with a time'],
    ['40155702.2026-08-21.json', '2026-08-21T00:00:00.000Z', 'eight digits before it are none'],
    ['acme.2026-02-30.json', null, 'there is no such day'],
    ['acme.json', null, 'there is none'],
  ])('of %s is %s: %s', (name, iso) => {
    const timeMs = dateInName(name);
    expect(timeMs === null ? null : isoTime(timeMs)).toBe(iso);
  });
});
