import { describe, expect, it } from 'vitest';
import { chain, chainWith, type MaybePromise } from '../../src/base/maybe-promise.ts';

describe('chaining an answer that comes now or later', () => {
  it('goes on in the same turn when the value is there', () => {
    expect(chain(1, (one) => one + 1)).toBe(2);
    expect(chain(undefined, (nothing) => nothing === undefined)).toBe(true);
  });

  it('throws what the next step throws, in the same turn', () => {
    const fail = (): never => {
      throw new Error('a bug');
    };
    expect(() => chain(1, fail)).toThrow('a bug');
  });

  it('goes on when a promise resolves, with a step that answers now or later', async () => {
    for (const next of [(one: number) => one + 1, async (one: number) => one + 1]) {
      const later = chain(Promise.resolve(1) as MaybePromise<number>, next);
      expect(later).toBeInstanceOf(Promise);
      expect(await later).toBe(2);
    }
  });

  it('rejects as the promise does, and skips the next step', async () => {
    const next = (): never => {
      throw new Error('not reached');
    };
    await expect(chain(Promise.reject(new Error('an outage')), next)).rejects.toThrow('an outage');
  });
});

describe('chaining with one thing more', () => {
  it('goes on in the same turn when the value is there, and throws what the next step throws', () => {
    expect(chainWith('a', 1, (given, one) => `${given}${one}`)).toBe('a1');
    expect(chainWith('a', undefined, (given, nothing) => [given, nothing])).toEqual(['a', undefined]);
    expect(() =>
      chainWith('a', 1, (given) => {
        throw new Error(given);
      }),
    ).toThrow('a');
  });

  it('goes on when a promise resolves, and rejects as it does without the next step', async () => {
    for (const next of [
      (given: number, one: number) => given + one,
      async (given: number, one: number) => given + one,
    ]) {
      const later = chainWith(2, Promise.resolve(1) as MaybePromise<number>, next);
      expect(later).toBeInstanceOf(Promise);
      expect(await later).toBe(3);
    }
    const next = (): never => {
      throw new Error('not reached');
    };
    await expect(chainWith(2, Promise.reject(new Error('an outage')), next)).rejects.toThrow('an outage');
  });
});
