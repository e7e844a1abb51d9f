/** When a job is tried again (siblings §6): backoff, jitter and `Retry-After`. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, pauseMs, type RetryPolicy } from '../../src/retry/policy.ts';

const policy = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({ ...DEFAULT_POLICY, jitter: false, ...changes });

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

it('the policy of a job that names none is the documented one', () => {
  expect(DEFAULT_POLICY).toEqual({
    maxAttempts: 5,
    backoff: 'exponential',
    initialDelaySeconds: 5,
    maxDelaySeconds: 3600,
    jitter: true,
    attemptTimeoutSeconds: 15,
    retryStatuses: [408, 425, 429, 500, 502, 503, 504],
    respectRetryAfter: true,
  });
});
