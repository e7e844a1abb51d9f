import { expect, it } from 'vitest';
import { isDeeperThan } from '../../src/base/json-depth.ts';

it.each([
  ['[]', 1],
  ['7', 0],
  ['{"a":[{}]}', 3],
  ['[[],[],{}]', 2],
  ['[{},{},{}]', 2],
  ['["[[[[",{"{{{{":0}]', 2],
  // A quote behind a backslash ends no string, one behind two does.
  ['["\\"[[[["]', 1],
  ['["\\\\",[[]]]', 3],
  ['["a",[["b"]]]', 3],
  ['{"a\\"":{"b\\\\":[]}}', 3],
])('%s nests %i deep', (text, depth) => {
  JSON.parse(text);
  expect([isDeeperThan(depth, text), isDeeperThan(depth - 1, text)]).toEqual([false, depth > 0]);
});

it('ends for a text that breaks off within a string', () => {
  for (const text of ['[]{}["x', '[]{}["x\\']) expect(isDeeperThan(2, text)).toBe(false);
});
