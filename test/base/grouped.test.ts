import { expect, it } from 'vitest';
import { grouped, quantity } from '../../src/base/grouped.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
])('%i is written %s', (count, text) => expect(grouped(count)).toBe(text));

it.each([
  [0, '0 jobs'],
  [1, '1 job'],
  [2, '2 jobs'],
  [1001, '1,001 jobs'],
])('%i of a thing are %s', (count, text) => expect(quantity(count, 'job')).toBe(text));
