import { expect, it } from 'vitest';
import { WasteBudget } from '../../src/payment/waste-budget.ts';

/** Ten at once, then one in 100 ms. */
const budget = (): WasteBudget => new WasteBudget(10, 0.01);

it('a group that overdraws its budget pauses until time has refilled what is missing', () => {
  const group = budget();
  group.charge(10, 0);
  expect(group.pauseMs(0)).toBe(0);
  group.charge(3, 0);
  expect(group.pauseMs(0)).toBe(300);
  expect(group.pauseMs(299)).toBeCloseTo(1);
  expect(group.pauseMs(300)).toBe(0);
});

it('a quiet hour saves no more than the burst, whatever is charged after it', () => {
  const group = budget();
  group.charge(0, 0);
  group.charge(12, 3_600_000);
  expect(group.pauseMs(3_600_000)).toBe(200);
});

it('a refund gives back what was charged', () => {
  const group = budget();
  group.charge(13, 0);
  group.charge(-3, 0);
  expect(group.pauseMs(0)).toBe(0);
});
