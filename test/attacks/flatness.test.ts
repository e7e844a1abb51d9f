import { describe, expect, it } from 'vitest';
import { Chance } from '../support/chance.ts';
import { flatnessOf } from './flatness.ts';

/** A collected heap: rises to its next collection, with noise. @param growth megabytes over the whole run */
const saw = (growth: number, noise = 4): number[] => {
  const chance = new Chance(7);
  return Array.from({ length: 1200 }, (_, i) => 200 + (i % 30) * 3 + chance.between(0, noise) + (growth * i) / 1200);
};

describe('flat memory', () => {
  it.each([
    { growth: 0, isFlat: true, because: 'a saw is no growth' },
    { growth: -100, isFlat: true, because: 'memory that is given back is welcome' },
    { growth: 20, isFlat: true, because: 'ten megabytes in half the run are within the noise of an allocator' },
    { growth: 100, isFlat: false, because: 'fifty megabytes in half the run are a leak' },
  ])('is $isFlat for a rise of $growth MB: $because', ({ growth, isFlat }) => {
    expect(flatnessOf(saw(growth))).toMatchObject({ isFlat });
  });

  it('may rise after the start: only the second half counts', () => {
    const samples = saw(0).map((value, i) => (i < 500 ? (value * i) / 500 : value));
    expect(flatnessOf(samples)).toMatchObject({ isFlat: true });
  });

  it('is not judged by a few samples', () => {
    expect(flatnessOf([100, 200, 300, 400])).toEqual({ isFlat: true, riseMegabytes: 0, noiseMegabytes: Infinity });
  });
});
