import { describe, expect, it } from 'vitest';
import { nearestOf } from '../../src/cli/nearest.ts';

const NAMES = ['serve', 'import', 'snapshot', 'state-dir', 'state-sync'];

describe('the nearest name', () => {
  const cases: readonly [word: string, nearest: string | undefined, because: string][] = [
    ['serv', 'serve', 'it is the beginning of one name'],
    ['sevre', 'serve', 'two neighbours are swapped'],
    ['SERVE', 'serve', 'case does not matter'],
    ['imporrt', 'import', 'one character is surplus'],
    ['snapshto', 'snapshot', 'two neighbours are swapped'],
    ['state', undefined, 'it is the beginning of two names, and too far from either'],
    ['state-dri', 'state-dir', 'it is closer to one of two'],
    ['s', undefined, 'one character says nothing'],
    ['', undefined, 'it is empty'],
    ['catalogue', undefined, 'it resembles none'],
    ['s'.repeat(100_000), undefined, 'no slip of the keys is that long'],
  ];
  it.each(cases)('of %j is %j, because %3$s', (word, nearest) => {
    expect(nearestOf(word, NAMES)).toBe(nearest);
  });
});
