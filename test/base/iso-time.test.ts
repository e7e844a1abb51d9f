import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from '../../src/base/iso-time.ts';

const LAST_MS = 8_640_000_000_000_000;

describe('a time as text', () => {
  it('is what the runtime writes', () => {
    const ms = fc.oneof(
      fc.integer({ min: Date.UTC(1969, 0, 1), max: Date.UTC(2050, 0, 1) }),
      fc.integer({ min: -LAST_MS, max: LAST_MS }),
      fc.double({ min: 0, max: Date.UTC(2050, 0, 1), noNaN: true }),
      fc.constantFrom(0, -1, 86_399_999, 86_400_000, LAST_MS, -LAST_MS, Date.UTC(9999, 11, 31, 23, 59, 59, 999)),
    );
    fc.assert(
      fc.property(ms, (one) => {
        expect(isoTime(one)).toBe(new Date(one).toISOString());
      }),
      { numRuns: 5000 },
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, LAST_MS + 86_400_000])('throws for %d', (ms) => {
    expect(() => isoTime(ms)).toThrow(RangeError);
  });
});
