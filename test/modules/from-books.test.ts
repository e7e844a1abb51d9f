/** Outages of the books become refusals (decisions §4), in the same turn where the books answer in the same turn. */
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/http/errors.ts';
import { fromBooks } from '../../src/modules/from-books.ts';
import { RecordsUnreadableError } from '../../src/payment/books.ts';

const throwing = (failure: Error) => (): never => {
  throw failure;
};

describe('reading the books', () => {
  it('gives what is there at once without a promise', () => {
    expect(fromBooks(() => 7)).toBe(7);
  });

  it('gives what comes later by a promise', async () => {
    await expect(fromBooks(() => Promise.resolve(7))).resolves.toBe(7);
  });

  it('refuses while they cannot be read, now or later', async () => {
    const failure = new RecordsUnreadableError('fault');
    const refusals = [fromBooks(throwing(failure)), await fromBooks(() => Promise.reject(failure))];
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(Refusal);
      expect(refusal).toMatchObject({ code: 'STATE_UNAVAILABLE', status: 503, extras: { detail: 'fault' } });
    }
  });

  it('passes a bug on, now or later', async () => {
    const bug = new Error('bug');
    expect(() => fromBooks(throwing(bug))).toThrow(bug);
    await expect(fromBooks(() => Promise.reject(bug))).rejects.toBe(bug);
  });
});
