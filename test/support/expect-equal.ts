import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * `expect(actual).toEqual(expected)` for models that compare tens of thousands of answers: what is the same is found so by the
 * runtime, in a tenth of the time, and only a difference is looked at and written out by `expect`.
 * @param because what was asked
 */
export function expectEqual(actual: unknown, expected: unknown, because: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, because()).toEqual(expected);
}
