import { expect, it } from 'vitest';
import { compareRecoveries } from './compare-recoveries.ts';

const COUNT = 100_000;
const SEED = 5;

it(`the faster library says what noble says on ${COUNT} mutated signatures`, { timeout: 3_600_000 }, () => {
  const { verdicts, differences } = compareRecoveries(SEED, COUNT);
  expect(differences, `seed ${SEED}`).toEqual([]);
  expect(verdicts.address).toBeGreaterThan(COUNT / 4);
  for (const verdict of ['length', 'v', 'r-range', 's-range', 'no-key']) {
    expect(verdicts[verdict], verdict).toBeGreaterThan(500);
  }
});
