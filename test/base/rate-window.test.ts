import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateWindow } from '../../src/base/rate-window.ts';

const MINUTE_MS = 60_000;

describe('a sliding window (reliability 140, 141, 143)', () => {
  it.each([1, 7, 8, 9, 30, 600])('lets exactly %i pass at one moment', (limit) => {
    const window = new RateWindow(limit, MINUTE_MS);
    const passed = Array.from({ length: limit + 5 }, () => window.tryPass(5)).filter((waitMs) => waitMs === 0);
    expect(passed).toHaveLength(limit);
  });

  it('frees a place at exactly the window after its pass, not a moment before', () => {
    const window = new RateWindow(1, MINUTE_MS);
    expect(window.tryPass(0)).toBe(0);
    expect(window.tryPass(59_999.5)).toBe(0.5);
    expect(window.tryPass(60_000)).toBe(0);
  });

  it('says how long to wait for the oldest pass to leave', () => {
    const window = new RateWindow(2, MINUTE_MS);
    window.tryPass(1_000);
    window.tryPass(31_000);
    expect(window.tryPass(41_000)).toBe(20_000);
  });

  it('does not count what it refused', () => {
    const window = new RateWindow(1, MINUTE_MS);
    window.tryPass(0);
    for (let nowMs = 1; nowMs < 60_000; nowMs += 1000) expect(window.tryPass(nowMs)).toBeGreaterThan(0);
    expect(window.tryPass(60_000)).toBe(0);
  });

  it('counts on after a silence of any length, at times of any size', () => {
    const wrapMs = 2 ** 32 / 1000;
    for (const silenceMs of [MINUTE_MS, wrapMs - 1, wrapMs, wrapMs + 1, wrapMs + MINUTE_MS - 1, 10 * wrapMs]) {
      const window = new RateWindow(2, MINUTE_MS);
      const startMs = 3 * wrapMs - 2.5;
      expect([window.tryPass(startMs), window.tryPass(startMs), window.tryPass(startMs + 1)]).toEqual([0, 0, 59_999]);
      const laterMs = startMs + silenceMs;
      expect([window.tryPass(laterMs), window.tryPass(laterMs)]).toEqual([0, 0]);
      expect(window.tryPass(laterMs + 59_999)).toBeCloseTo(1, 2);
      expect(window.tryPass(laterMs + MINUTE_MS + 0.001)).toBe(0);
    }
  });

  it('never frees a place early, whatever the fraction of the clock', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (startMs) => {
        const window = new RateWindow(1, MINUTE_MS);
        window.tryPass(startMs);
        expect(window.tryPass(startMs)).toBeGreaterThan(0);
        expect(window.tryPass(startMs + MINUTE_MS - 0.001)).toBeGreaterThan(0);
        expect(window.tryPass(startMs + MINUTE_MS + 0.003)).toBe(0);
      }),
    );
  });

  it('never lets more than its limit pass in any span, and never fewer than it could', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 300 }),
        (limit, gapsMs) => {
          const window = new RateWindow(limit, MINUTE_MS);
          const passes: number[] = [];
          let nowMs = 0;
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            const inside = passes.filter((pass) => nowMs - pass < MINUTE_MS).length;
            const passed = window.tryPass(nowMs) === 0;
            expect(passed).toBe(inside < limit);
            if (passed) passes.push(nowMs);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
