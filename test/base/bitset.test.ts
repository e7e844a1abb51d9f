import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitSet, bitCountOf, keepMembers, writeFirstOfAll } from '../../src/base/bitset.ts';

function membersOf(set: BitSet): number[] {
  return set.first(set.length);
}

function setOf(length: number, members: readonly number[]): BitSet {
  const set = new BitSet(length);
  for (const member of members) set.add(member);
  return set;
}

const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

describe('a bit set', () => {
  for (const length of [0, 1, 31, 32, 33, 64, 127, 128, 129, 10_000]) {
    it(`of length ${length} is filled with exactly that many members and cleared again`, () => {
      const set = new BitSet(length);
      set.fill();
      expect(membersOf(set)).toEqual(Array.from({ length }, (_, i) => i));
      expect(set.count).toBe(length);
      set.clear();
      expect(membersOf(set)).toEqual([]);
      expect(set.count).toBe(0);
    });

    it(`of length ${length} keeps what it has in common with a full set`, () => {
      const full = new BitSet(length);
      full.fill();
      const set = setOf(
        length,
        Array.from({ length }, (_, i) => i).filter((i) => i % 3 === 0),
      );
      expect(full.intersectWords(set.words, 0)).toBe(length > 0);
      expect(membersOf(full)).toEqual(membersOf(set));
      expect(full.intersectWords(new BitSet(length).words, 0)).toBe(false);
    });
  }

  it('gives the smallest members first and no more than are wanted', () => {
    const set = setOf(100, [99, 0, 31, 32, 63, 31]);
    expect(set.first(4)).toEqual([0, 31, 32, 63]);
    expect(set.first(5)).toEqual([0, 31, 32, 63, 99]);
    expect(set.first(6)).toEqual([0, 31, 32, 63, 99]);
    expect(set.first(0)).toEqual([]);
  });

  it('behaves as a Set of numbers under any members', () => {
    const members = fc.uniqueArray(fc.nat(199));
    fc.assert(
      fc.property(members, members, fc.nat(200), fc.nat(200), (left, right, start, end) => {
        const one = setOf(200, left);
        const other = new BitSet(200);
        other.addFrom(Uint16Array.from([7, ...right, 7]), 1, right.length + 1);
        const words = new Int32Array(9);
        other.writeWords(words, 1);
        const added = setOf(200, left);
        added.addWords(words, 1);
        expect(membersOf(added)).toEqual(ascending([...new Set([...left, ...right])]));
        added.readWords(words, [1]);
        expect(membersOf(added)).toEqual(ascending(right));

        const both = ascending(left.filter((member) => right.includes(member)));
        const inside = both.filter((member) => member >= start && member < end).length;
        expect(one.countOfBoth(other, start, end)).toBe(inside);
        expect(one.count).toBe(left.length);
        expect(one.intersectWords(other.words, 0)).toBe(both.length > 0);
        expect(membersOf(one)).toEqual(both);
      }),
    );
  });
});

describe('what several sets have in common', () => {
  it('is the same as a set, as its smallest numbers, and as a filter gives it', () => {
    const set = fc.array(fc.nat(99), { minLength: 60, maxLength: 300 });
    fc.assert(
      fc.property(fc.array(set, { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 100 }), (sets, limit) => {
        const words = new Int32Array(1 + sets.length * 5);
        const starts = sets.map((members, i) => {
          setOf(100, members).writeWords(words, 1 + i * 5);
          return 1 + i * 5;
        });
        const expected = Array.from({ length: 100 }, (_, i) => i).filter((i) => sets.every((each) => each.includes(i)));
        const common = setOf(100, [5]);
        // A single set is copied unread, so the method gives true for it.
        expect(common.readWords(words, starts)).toBe(starts.length === 1 || expected.length > 0);
        expect(membersOf(common)).toEqual(expected);
        const into = new Uint16Array(100);
        const written = writeFirstOfAll(words, starts, 4, limit, into);
        expect([...into.subarray(0, written)]).toEqual(expected.slice(0, limit));
      }),
    );
  });
});

describe('the bits of a word', () => {
  it('are counted as its binary digits are', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (word) => {
        expect(bitCountOf(word)).toBe((word >>> 0).toString(2).replaceAll('0', '').length);
      }),
    );
    expect([0, 1, -1, -(2 ** 31), 2 ** 31 - 1].map(bitCountOf)).toEqual([0, 1, 32, 1, 31]);
  });
});

describe('a list of numbers', () => {
  it('keeps those that are members, in its order, in place or elsewhere', () => {
    const members = fc.uniqueArray(fc.nat(99));
    fc.assert(
      fc.property(members, fc.uniqueArray(fc.nat(99), { maxLength: 60 }), (inSet, listed) => {
        const words = new Int32Array(6);
        setOf(100, inSet).writeWords(words, 2);
        const kept = listed.filter((number) => inSet.includes(number));
        const into = new Uint16Array(60);
        const behind = Uint16Array.from([1, 2, 3, ...listed]);
        expect([...into.subarray(0, keepMembers(words, 2, behind, 3, listed.length, into))]).toEqual(kept);
        const list = Uint16Array.from(listed);
        expect([...list.subarray(0, keepMembers(words, 2, list, 0, listed.length, list))]).toEqual(kept);
      }),
    );
  });
});
