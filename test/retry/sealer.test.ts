/** What a state holds of a customer's request (siblings §6): sealed for one job, with a key of its own. */
import { describe, expect, it } from 'vitest';
import { newRetryId } from '../../src/retry/identifier.ts';
import { Sealer } from '../../src/retry/sealer.ts';
import { Chance } from '../support/chance.ts';

const random = new Chance(5);
const sealer = new Sealer(new Uint8Array(32).fill(1), random);

describe('a sealed text', () => {
  const id = newRetryId(random);
  const sealed = sealer.seal(id, 'a secret é');

  it('opens for its job, with the same state key, and shows nothing of itself', () => {
    expect(new Sealer(new Uint8Array(32).fill(1), random).open(id, sealed)).toBe('a secret é');
    expect(Buffer.from(sealed).toString('latin1')).not.toContain('secret');
    expect(sealer.seal(id, 'a secret é')).not.toEqual(sealed);
  });

  it('opens for no other job, with no other key, and not when a bit of it was changed', () => {
    expect(() => sealer.open(newRetryId(random), sealed)).toThrow();
    expect(() => new Sealer(new Uint8Array(32).fill(2), random).open(id, sealed)).toThrow();
    for (const index of [0, 13, sealed.length - 1]) {
      const bent = sealed.slice();
      bent[index]! ^= 1;
      expect(() => sealer.open(id, bent)).toThrow();
    }
  });
});
