/** Lateness against a model that sends a request every millisecond (decisions §4, loop pressure; reliability 212). */
import { describe, expect, it } from 'vitest';
import { LatenessWindow } from '../../../src/base/overload/lateness.ts';
import { LATENESS_FLOOR_MS, SAMPLE_PAUSE_MS } from '../../../src/base/overload/limits.ts';
import { Chance } from '../../support/chance.ts';

const WINDOW_MS = 5_000;

/** The looks of a loop that is late by these milliseconds, one after the other. */
function lookedAt(latesMs: readonly number[]): { window: LatenessWindow; nowMs: number; arrivals: readonly number[] } {
  const window = new LatenessWindow();
  let nowMs = 0;
  /** Lateness of an arrival in each millisecond. */
  const arrivals: number[] = [];
  for (const lateMs of latesMs) {
    for (let ms = 0; ms < SAMPLE_PAUSE_MS; ms++) arrivals.push(0);
    for (let ms = 0; ms < lateMs; ms++) arrivals.push(lateMs - ms);
    nowMs += SAMPLE_PAUSE_MS + lateMs;
    window.add(nowMs, lateMs);
  }
  return { window, nowMs, arrivals };
}

const modelOf = (arrivals: readonly number[], share: number): number => {
  const last = arrivals.slice(-WINDOW_MS);
  const all = [...new Array<number>(WINDOW_MS - last.length).fill(0), ...last].sort((a, b) => a - b);
  return all[Math.min(WINDOW_MS - 1, Math.floor(share * WINDOW_MS))]!;
};

const times = (count: number, lateMs: number): number[] => new Array<number>(count).fill(lateMs);

describe('lateness', () => {
  it.each<readonly [because: string, latesMs: readonly number[], p50: number, p90: number, max: number]>([
    ['a loop that is never late', times(300, 0), 0, 0, 0],
    ['the usual lateness of timers', times(300, LATENESS_FLOOR_MS - 0.5), 0, 0, 0],
    ['nothing known', [], 0, 0, 0],
    ['one block of two seconds, right after it', [...times(300, 0), 2_000], 0, 1_500, 2_000],
    ['one block of half a second: a tenth of the moments', [...times(300, 0), 500], 0, 0, 500],
    ['one block of 700 ms', [...times(300, 0), 700], 0, 200, 700],
    ['a block that is longer than the window', [60_000], 2_500, 4_500, 5_000],
    ['turns of a quarter of a second', times(40, 230), 105, 205, 230],
  ])('%s', (_, latesMs, p50, p90, max) => {
    const { window, nowMs } = lookedAt(latesMs);
    expect(window.quantileMs(0.5, nowMs)).toBeCloseTo(p50, 0);
    expect(window.quantileMs(0.9, nowMs)).toBeCloseTo(p90, 0);
    expect(window.quantileMs(1, nowMs)).toBe(max);
  });

  it('is forgotten five seconds later, whether or not the loop is looked at', () => {
    const { window, nowMs } = lookedAt([2_000]);
    expect(window.quantileMs(0.9, nowMs + 4_000)).toBeCloseTo(500);
    expect(window.quantileMs(0.9, nowMs + 4_999)).toBe(0);
    expect(window.quantileMs(1, nowMs + 4_999)).toBe(1);
    expect(window.quantileMs(1, nowMs + 5_000)).toBe(0);
  });

  it('is that of a request at any moment of the last five seconds', () => {
    const chance = new Chance(212);
    for (let run = 0; run < 200; run++) {
      const mostMs = chance.pick([5, 50, 400, 4_000, 9_000]);
      const latesMs = Array.from({ length: chance.between(1, 400) }, () =>
        chance.is(0.3) ? Math.round(chance.between(LATENESS_FLOOR_MS, mostMs)) : 0,
      );
      const { window, nowMs, arrivals } = lookedAt(latesMs);
      for (const share of [0.5, 0.9, 0.99]) {
        const difference = window.quantileMs(share, nowMs) - modelOf(arrivals, share);
        expect(Math.abs(difference), `run ${run}, ${share}`).toBeLessThan(1.001);
      }
      expect(window.quantileMs(1, nowMs)).toBe(modelOf(arrivals, 1));
    }
  });
});
