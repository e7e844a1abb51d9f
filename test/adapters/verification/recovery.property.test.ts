import { expect, it } from 'vitest';
import { IS_WHOLE, partOf } from '../../support/whole.ts';
import { compareRecoveries } from './compare-recoveries.ts';

const COUNT = partOf(3000, 700);
const SEED = 20_261_121;

it(`the faster library says what noble says on ${COUNT} mutated signatures`, { timeout: 240_000 }, () => {
  const { verdicts, differences } = compareRecoveries(SEED, COUNT, IS_WHOLE ? 5 : 31);
  expect(differences, `seed ${SEED}`).toEqual([]);
  // Each verdict was met, so none of them is equal for want of cases.
  for (const verdict of ['address', 'length', 'v', 'r-range', 's-range', 'no-key']) {
    expect(verdicts[verdict], verdict).toBeGreaterThan(partOf(20, 10));
  }
});
