/** The ring beside a map that forgets nothing: what it still knows is what was kept last under that number. */
import { describe, expect, it } from 'vitest';
import { KeptBytes } from '../../src/base/kept-bytes.ts';
import { SeededChance } from '../support/generated-catalogue.ts';

describe('kept bytes', () => {
  it('are those that were kept last, or are not known', () => {
    const chance = new SeededChance(7);
    const kept = new KeptBytes(1000, 16);
    const last = new Map<number, string>();
    const into = Buffer.alloc(100);
    let known = 0;
    for (let i = 0; i < 20_000; i++) {
      const number = chance.below(40);
      if (chance.is(50)) {
        const text = String.fromCharCode(97 + chance.below(26)).repeat(chance.below(90));
        kept.keep(number, Buffer.from(`<${text}>`), 1, text.length + 1);
        if (text.length <= 1000 / 16) last.set(number, text);
      } else if (kept.has(number)) {
        known++;
        expect(kept.lengthOf(number)).toBe(last.get(number)!.length);
        expect(into.toString('utf8', 3, kept.copyInto(number, into, 3))).toBe(last.get(number));
      }
    }
    expect(known).toBeGreaterThan(1000);
  });

  it('are known right after they were kept, to the last byte of the ring', () => {
    const kept = new KeptBytes(64, 4);
    const into = Buffer.alloc(4);
    for (let number = 0; number < 100; number++) {
      kept.keep(number, Buffer.from(String(number).padStart(4, '0')), 0, 4);
      // Of sixteen entries in the ring, four have a slot.
      for (let before = Math.max(0, number - 3); before <= number; before++) {
        expect(kept.has(before)).toBe(true);
        expect(into.toString('utf8', 0, kept.copyInto(before, into, 0))).toBe(String(before).padStart(4, '0'));
      }
      expect(kept.has(number - 4)).toBe(false);
      expect(kept.has(number + 1)).toBe(false);
    }
  });
});
