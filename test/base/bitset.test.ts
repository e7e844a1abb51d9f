import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitSet } from '../../src/base/bitset.ts';

function membersOf(set: BitSet): number[] {
  const into = new Uint32Array(set.length);
  return [...into.subarray(0, set.readInto(into))];
}

describe('a bit set', () => {
  for (const length of [0, 1, 31, 32, 33, 64, 10_000]) {
    it(`of length ${length} is filled with exactly that many members and cleared again`, () => {
      const set = new BitSet(length);
      set.fill();
      expect(membersOf(set)).toEqual(Array.from({ length }, (_, i) => i));
      expect(set.has(length)).toBe(false);
      set.clear();
      expect(membersOf(set)).toEqual([]);
    });
  }

  it('gives the smallest members first and no more than there is room for', () => {
    const set = new BitSet(100);
    for (const member of [99, 0, 31, 32, 63, 31]) set.add(member);
    const into = new Uint16Array(4);
    expect(set.readInto(into)).toBe(4);
    expect([...into]).toEqual([0, 31, 32, 63]);
    expect(set.readInto(new Uint16Array(0))).toBe(0);
  });

  it('behaves as a Set of numbers under any members', () => {
    const members = fc.uniqueArray(fc.nat(199));
    fc.assert(
      fc.property(members, members, (left, right) => {
        const one = new BitSet(200);
        const other = new BitSet(200);
        for (const member of left) one.add(member);
        other.addFrom(Uint16Array.from([7, ...right, 7]), 1, right.length + 1);
        const words = new Int32Array(8);
        for (const member of right) words[1 + (member >>> 5)]! |= 1 << (member & 31);
        const copied = new BitSet(200);
        copied.addWords(words, 1);
        expect(membersOf(copied)).toEqual(membersOf(other));
        const both = left.filter((member) => right.includes(member)).sort((a, b) => a - b);
        expect(one.intersect(other)).toBe(both.length > 0);
        expect(membersOf(one)).toEqual(both);
        for (let i = 0; i < 200; i++) expect(one.has(i)).toBe(both.includes(i));
      }),
    );
  });
});
