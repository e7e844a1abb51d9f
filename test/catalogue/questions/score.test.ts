import { describe, expect, it } from 'vitest';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { scoreHundredths, scoreOf } from '../../../src/catalogue/questions/score.ts';

describe('the hiring activity score', () => {
  const cases: [number, number, number, string][] = [
    [0, 0, 0, 'nothing observed is 0'],
    [0, 5, 0, 'nothing recent is 0'],
    [5, 5, 100, 'all recent is 100'],
    [1, 3, 33.33, 'thirds round down'],
    [2, 3, 66.67, 'two thirds round up'],
    [1, 800, 0.13, '0.125 is half way and goes away from zero'],
    [3, 800, 0.38, '0.375 is half way and goes away from zero'],
    [1, 20_000, 0.01, '0.005 is half way'],
    [1, 20_001, 0, 'just below half way goes down'],
    [9999, 10_000, 99.99, 'the largest cohort'],
  ];
  for (const [recent, observed, score, because] of cases) {
    it(`is ${score} for ${recent} of ${observed}: ${because}`, () => {
      expect(scoreOf(scoreHundredths(recent, observed))).toBe(score);
    });
  }

  it('equals the fraction in whole numbers of any size, and prints with two decimals at most', () => {
    for (let observed = 1; observed <= 10_000; observed += 37) {
      for (let recent = 0; recent <= observed; recent += 11) {
        const exact = (2n * 10_000n * BigInt(recent) + BigInt(observed)) / (2n * BigInt(observed));
        const hundredths = scoreHundredths(recent, observed);
        if (BigInt(hundredths) !== exact) expect.fail(`${recent} of ${observed} gave ${hundredths}`);
        if (!/^\d+(\.\d{1,2})?$/.test(String(scoreOf(hundredths)))) expect.fail(`${hundredths} prints long`);
      }
    }
  });
});

describe('the observation period', () => {
  it('ends now and starts seven days of 24 hours earlier', () => {
    const endMs = Date.UTC(2026, 2, 30, 1, 2, 3, 4);
    expect(observationPeriodEndingAt(endMs)).toEqual({ startMs: Date.UTC(2026, 2, 23, 1, 2, 3, 4), endMs });
  });
});
