import { describe, expect, it } from 'vitest';
import { openClientRate, perClient } from '../../src/access/rate-limit.ts';
import type { Refusal } from '../../src/http/errors.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { MemoryRateLimits } from '../../src/storage/memory/rate-limits.ts';

function setUp(limit: number) {
  let now = 1_000;
  const limits = new MemoryRateLimits({ nowMs: () => 0, monotonicMs: () => now });
  const clientRate = openClientRate(limits, 'client', limit);
  const admitter = perClient.open({ clientRate }, searchJobs, { labels: {}, baseUrl: '' });
  const from = (network: string) =>
    admitter.admit({ clientNetwork: () => network } as RequestView, {}, {}) as Refusal | undefined;
  return {
    from,
    at: (ms: number) => {
      now = 1_000 + ms;
    },
  };
}

describe('the usage rate', () => {
  it('passes the limit and refuses the next with the seconds until one can pass', () => {
    const { from, at } = setUp(3);
    for (let i = 0; i < 3; i++) {
      at(i * 100);
      expect(from('a')).toBeUndefined();
    }
    at(30_000);
    const refusal = from('a');
    expect(refusal?.code).toBe('RATE_LIMIT_EXCEEDED');
    expect(refusal?.extras.headers).toEqual({ 'retry-after': '30' });
  });

  it('lets one more pass at exactly sixty seconds', () => {
    const { from, at } = setUp(2);
    at(0);
    from('a');
    at(10);
    from('a');
    at(59_999);
    expect(from('a')?.code).toBe('RATE_LIMIT_EXCEEDED');
    at(60_000);
    expect(from('a')).toBeUndefined();
    expect(from('a')?.code).toBe('RATE_LIMIT_EXCEEDED');
  });

  it('has no double burst at the edge of a minute', () => {
    const { from, at } = setUp(30);
    at(59_000);
    for (let i = 0; i < 30; i++) expect(from('a')).toBeUndefined();
    at(61_000);
    expect(from('a')?.code).toBe('RATE_LIMIT_EXCEEDED');
  });

  it('counts each network separately, and no refused request', () => {
    const { from, at } = setUp(1);
    at(0);
    expect(from('a')).toBeUndefined();
    for (let i = 0; i < 100; i++) from('a');
    expect(from('b')).toBeUndefined();
    at(60_000);
    expect(from('a')).toBeUndefined();
  });

  it('is off at zero', () => {
    const { from } = setUp(0);
    for (let i = 0; i < 2_000; i++) expect(from('a')).toBeUndefined();
  });
});
