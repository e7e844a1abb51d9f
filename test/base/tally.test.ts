/** Counts by name. */
import { describe, expect, it } from 'vitest';
import { Tally } from '../../src/base/tally.ts';

describe('a tally', () => {
  it('counts each name by itself, from zero', () => {
    const tally = new Tally();
    tally.add('a');
    tally.add('a', 4);
    tally.add('b');
    expect([tally.of('a'), tally.of('b'), tally.of('c')]).toEqual([5, 1, 0]);
  });

  it('takes back what was added, and never counts below zero', () => {
    const tally = new Tally();
    tally.add('a', 5);
    tally.add('a', -4);
    expect(tally.of('a')).toBe(1);
    tally.add('a', -2);
    expect(tally.of('a')).toBe(0);
    tally.add('a');
    expect(tally.of('a')).toBe(1);
  });
});
