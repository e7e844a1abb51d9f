/** When a job is tried again (siblings §6): backoff, jitter, `Retry-After` in seconds and as a date (RFC 9110, sections 10.2.3 and 5.6.7). */
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, pauseMs, type RetryPolicy, retryAfterSecondsOf } from '../../src/retry/policy.ts';

const policy = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({ ...DEFAULT_POLICY, jitter: false, ...changes });
const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe('the pause after an attempt', () => {
  it.each([
    ['the first', policy(), 1, null, 0, 5000],
    ['the second', policy(), 2, null, 0, 10_000],
    ['the tenth, which the longest pause bounds', policy(), 10, null, 0, 2_560_000],
    ['one above the longest pause', policy({ maxDelaySeconds: 7 }), 2, null, 0, 7000],
    ['a fixed one', policy({ backoff: 'fixed' }), 9, null, 0, 5000],
    ['jitter at its least: half', policy({ jitter: true }), 1, null, 0, 2500],
    ['jitter at its most: nearly all', policy({ jitter: true }), 1, null, 0.9999, 5000],
    ['Retry-After that is longer', policy(), 1, 60, 0, 60_000],
    ['Retry-After that is shorter', policy(), 3, 1, 0, 20_000],
    ['Retry-After above the longest pause', policy({ maxDelaySeconds: 30 }), 1, 3600, 0, 30_000],
    ['Retry-After that the policy ignores', policy({ respectRetryAfter: false }), 1, 60, 0, 5000],
  ] as const)('is right for %s', (_, given, number, retryAfter, draw, expected) => {
    expect(pauseMs(given, number, retryAfter, draw)).toBe(expected);
  });
});

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
