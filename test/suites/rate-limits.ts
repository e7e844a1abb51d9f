/** What every implementation of rate limits promises, whether it answers now or later. The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { RateLimits } from '../../src/base/rate-limits.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type Opened, withOpened } from './opened.ts';

const MINUTE_MS = 60_000;

export function describeRateLimits(name: string, open: (time: ManualTime) => Promise<Opened<RateLimits>>): void {
  const using = async (test: (limits: RateLimits, time: ManualTime) => Promise<void>): Promise<void> => {
    const time = new ManualTime();
    await withOpened(open(time), (limits) => test(limits, time));
  };

  describe(name, () => {
    it('let the limit pass in any window and then say how long to wait', () =>
      using(async (limits, time) => {
        const limiter = limits.open('a', 3, MINUTE_MS);
        for (let i = 0; i < 3; i++) {
          expect(await limiter.tryPass('a')).toBe(0);
          time.pass(10_000);
        }
        expect(await limiter.tryPass('a')).toBe(30_000);
        time.pass(29_999);
        expect(await limiter.tryPass('a')).toBe(1);
        time.pass(1);
        expect(await limiter.tryPass('a')).toBe(0);
        expect(await limiter.tryPass('a')).toBe(10_000);
      }));

    it('count keys apart, limiters apart, and refused tries not at all', () =>
      using(async (limits, time) => {
        const [one, other] = [limits.open('one', 1, MINUTE_MS), limits.open('other', 1, MINUTE_MS)];
        expect(await one.tryPass('a')).toBe(0);
        for (let i = 0; i < 20; i++) expect(await one.tryPass('a')).toBeGreaterThan(0);
        expect(await one.tryPass('b')).toBe(0);
        expect(await other.tryPass('a')).toBe(0);
        time.pass(MINUTE_MS);
        expect(await one.tryPass('a')).toBe(0);
      }));

    it('are one limit where two places open them by one name', () =>
      using(async (limits) => {
        expect(await limits.open('one', 1, MINUTE_MS).tryPass('a')).toBe(0);
        expect(await limits.open('one', 1, MINUTE_MS).tryPass('a')).toBeGreaterThan(0);
      }));

    it('let exactly the limit of many concurrent tries pass', () =>
      using(async (limits) => {
        const limiter = limits.open('a', 30, MINUTE_MS);
        const waits = await Promise.all(Array.from({ length: 100 }, async () => limiter.tryPass('a')));
        expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(30);
      }));

    it('do not follow the wall clock', () =>
      using(async (limits, time) => {
        const limiter = limits.open('a', 1, MINUTE_MS);
        await limiter.tryPass('a');
        time.stepWall(3_600_000);
        expect(await limiter.tryPass('a')).toBe(MINUTE_MS);
        time.stepWall(-7_200_000);
        time.pass(MINUTE_MS);
        expect(await limiter.tryPass('a')).toBe(0);
      }));
  });
}
