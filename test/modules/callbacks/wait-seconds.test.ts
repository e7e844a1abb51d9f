/** The `timeout` of a wait, as text in the query (decisions §5; reliability 191). */
import { expect, it } from 'vitest';
import { waitSecondsOf } from '../../../src/modules/callbacks/wait.ts';

it.each<readonly [string | null, number, string]>([
  [null, 30, 'missing'],
  ['', 1, 'empty: Number gives 0'],
  ['   ', 1, 'blanks: Number gives 0'],
  ['abc', 30, 'no number'],
  ['30s', 30, 'no number'],
  ['1e400', 30, 'not finite'],
  ['-Infinity', 30, 'not finite'],
  ['NaN', 30, 'no number'],
  ['0', 1, 'clamped'],
  ['-5', 1, 'clamped'],
  ['-0', 1, 'clamped'],
  ['0.9', 1, 'floored, then clamped'],
  ['1.9', 1, 'floored'],
  ['29.999', 29, 'floored'],
  ['30', 30, 'the most'],
  ['30.1', 30, 'floored'],
  ['31', 30, 'clamped'],
  ['1e9', 30, 'clamped'],
  ['0x1f', 30, 'hexadecimal 31, clamped'],
  ['1e1', 10, 'an exponent'],
  ['0b11', 3, 'binary'],
  ['0o17', 15, 'octal'],
  [' 7 ', 7, 'white space around'],
  ['５', 30, 'a full-width digit'],
  ['1,5', 30, 'a comma'],
])('timeout=%j waits %i s: %s (reliability 191)', (text, seconds) => {
  expect(waitSecondsOf(text)).toBe(seconds);
});
