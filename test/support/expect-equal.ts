import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * `expect(actual).toEqual(expected)` for models that compare tens of thousands of answers: the runtime confirms
 * equality in a tenth of the time, and `expect` examines and prints only differences.
 * @param because the question asked
 */
export function expectEqual(actual: unknown, expected: unknown, because: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, because()).toEqual(expected);
}
