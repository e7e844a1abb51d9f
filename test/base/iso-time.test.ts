/** Times of answers beside the language's own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime, isoTimeInto, isoTimeOrNull, TIME_LENGTH_MAX } from '../../src/base/iso-time.ts';

const LIMIT = 8.64e15;

/** As bytes, between others that stay. */
function bytesOf(ms: number): string {
  const into = new Uint8Array(TIME_LENGTH_MAX + 4).fill(0x2e);
  const end = isoTimeInto(ms, into, 2);
  expect([...into.subarray(0, 2), ...into.subarray(end)].every((byte) => byte === 0x2e)).toBe(true);
  return new TextDecoder().decode(into.subarray(2, end));
}

describe('the text of a time', () => {
  it('is that of Date, for any moment that Date has', () => {
    const times = fc.oneof(
      fc.integer({ min: -LIMIT, max: LIMIT }),
      fc.integer({ min: 0, max: 4e12 }),
      fc.double({ min: -LIMIT, max: LIMIT, noNaN: true }),
    );
    fc.assert(
      fc.property(times, (ms) => {
        const expected = new Date(ms).toISOString();
        return isoTime(ms) === expected && bytesOf(ms) === expected;
      }),
    );
  });

  it.each([0, -0, -1, 999, -LIMIT, LIMIT, -62_167_219_200_000, -62_167_219_200_001, 253_402_300_800_000, 1.9, -1.9])(
    'is that of Date at %d',
    (ms) => expect([isoTime(ms), bytesOf(ms)]).toEqual(Array(2).fill(new Date(ms).toISOString())),
  );

  it('is the same for more days than are remembered', () => {
    for (let day = 0; day < 10_000; day++) {
      const ms = day * 86_400_000 + day;
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, LIMIT + 1, -LIMIT - 1])('is none at %d', (ms) => {
    expect(() => isoTime(ms)).toThrow(RangeError);
    expect(() => bytesOf(ms)).toThrow(RangeError);
  });

  it('is null where there is no time', () => {
    expect(isoTimeOrNull(null)).toBeNull();
    expect(isoTimeOrNull(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
