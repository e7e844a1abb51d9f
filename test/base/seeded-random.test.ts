import { expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';

const draws = (random: SeededRandom, count = 4): number[] => Array.from({ length: count }, () => random.bits());

it('draws the same sequence for the same seed and stream, and another one otherwise', () => {
  expect(draws(new SeededRandom(1))).toEqual(draws(new SeededRandom(1, 0)));
  expect(draws(new SeededRandom(1, 2))).not.toEqual(draws(new SeededRandom(1)));
  expect(draws(new SeededRandom(2))).not.toEqual(draws(new SeededRandom(1)));
});

it('starts again when it is seeded again', () => {
  const random = new SeededRandom(7, 3);
  const first = draws(random);
  random.reseed(7, 3);
  expect(draws(random)).toEqual(first);
});

it('keeps its sequence from one version to the next', () => {
  expect(draws(new SeededRandom(402, 1))).toMatchInlineSnapshot(`
    [
      2504914849,
      4293093452,
      2503347458,
      1972065932,
    ]
  `);
});

it('stays inside its bounds', () => {
  const random = new SeededRandom(-5);
  for (let i = 0; i < 1000; i++) {
    const unit = random.unit();
    expect(unit >= 0 && unit < 1).toBe(true);
    expect([0, 1, 2]).toContain(random.below(3));
    expect(['a', 'b']).toContain(random.pick(['a', 'b']));
  }
});

it('gives as many bytes as asked for, and version 4 UUIDs', () => {
  const random = new SeededRandom(9);
  expect(random.bytes(5)).toHaveLength(5);
  expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});
