/** `Retry-After` in seconds and as a date (RFC 9110, sections 10.2.3 and 5.6.7). */
import { describe, expect, it } from 'vitest';
import { retryAfterSecondsOf } from '../../src/base/retry-after.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe('Retry-After', () => {
  it.each([
    ['120', 120],
    ['0', 0],
    [' 7 ', 7],
    ['99999999999999999999', Number.MAX_SAFE_INTEGER],
    ['Fri, 20 Nov 2026 12:01:00 GMT', 60],
    ['Fri, 20 Nov 2026 11:59:00 GMT', 0],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30],
    ['Fri Nov 20 12:02:00 2026', 120],
    // A year in two digits is at most fifty years ahead.
    ['Friday, 20-Nov-76 12:00:00 GMT', (Date.UTC(2076, 10, 20, 12) - NOW_MS) / 1000],
    ['Sunday, 20-Nov-77 12:00:00 GMT', 0],
    ['Fri, 20 Nov 2026 12:00:60 GMT', 60],
    ['Fri, 20 Nov 2026 12:00:61 GMT', null],
    ['Fri, 20 Nov 2026 12:60:00 GMT', null],
    ['Fri, 20 Nov 2026 24:00:00 GMT', null],
    ['Fri, 20 Abc 2026 12:00:00 GMT', null],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    [null, null],
    ['Fri, 31 Feb 2026 12:00:00 GMT', null],
    ['Fri, 20 Nov 2026 25:00:00 GMT', null],
    ['2026-11-20T12:01:00Z', null],
  ] as const)('%j is %j seconds', (text, seconds) => {
    expect(retryAfterSecondsOf(text, NOW_MS)).toBe(seconds);
  });
});
