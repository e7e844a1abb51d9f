/** Pieces as one array, whatever their sizes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatheredBytes } from '../../src/base/gathered-bytes.ts';

const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });

describe('gathered bytes', () => {
  it('are the pieces one after the other, and no longer', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const gathered = new GatheredBytes();
        for (const piece of all) gathered.add(piece);
        const bytes = gathered.bytes();
        expect(Buffer.from(bytes)).toEqual(Buffer.concat(all));
        expect(gathered.length).toBe(bytes.length);
      }),
    );
  });

  it('leave a piece that others follow as it was', () => {
    const first = Buffer.from('first');
    const gathered = new GatheredBytes();
    gathered.add(first);
    gathered.add(Buffer.from('!'));
    expect(Buffer.from(gathered.bytes()).toString()).toBe('first!');
    expect(first.toString()).toBe('first');
  });

  it('take a single piece without a copy, and forget what they are told to forget', () => {
    const piece = new Uint8Array([1, 2]);
    const gathered = new GatheredBytes();
    gathered.add(piece);
    expect(gathered.bytes()).toBe(piece);
    gathered.clear();
    expect([gathered.bytes().length, gathered.length]).toEqual([0, 0]);
  });
});
