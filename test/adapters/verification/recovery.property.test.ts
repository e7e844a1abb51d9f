import { expect, it } from 'vitest';
import { compareRecoveries } from './compare-recoveries.ts';

const COUNT = 3000;
const SEED = 20_261_121;

it(`the faster library says what noble says on ${COUNT} mutated signatures`, { timeout: 240_000 }, () => {
  const { verdicts, differences } = compareRecoveries(SEED, COUNT, 5);
  expect(differences, `seed ${SEED}`).toEqual([]);
  // Each verdict was met, so none of them is equal for want of cases.
  for (const verdict of ['address', 'length', 'v', 'r-range', 's-range', 'no-key']) {
    expect(verdicts[verdict], verdict).toBeGreaterThan(20);
  }
});
