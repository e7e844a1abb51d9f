import { expect, it } from 'vitest';
import { lruMap } from '../../src/base/lru-map.ts';

it('holds as many entries as it is given, and forgets the one that was used longest ago', () => {
  const map = lruMap<string, number>(3);
  for (const key of ['a', 'b', 'c']) map.set(key, 0);
  map.get('a');
  map.set('d', 0);
  expect([...map.keys()].sort()).toEqual(['a', 'c', 'd']);
});
