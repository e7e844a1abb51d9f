import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_LENGTH, KeyQueue } from '../../src/base/key-queue.ts';
import { type Random, systemRandom } from '../../src/base/random.ts';
import { expectEqual } from '../support/expect-equal.ts';

/** Draws zeros, so the salt is known, and the bucket of {@link keyOf} follows from the last code unit alone. */
const zeros: Random = { bytes: (count) => new Uint8Array(count), uuid: () => '' };

/** The given numbers are its first and last code units, and nothing else is. */
const keyOf = (first: number, last: number): string =>
  String.fromCharCode(first, ...Array.from({ length: KEY_LENGTH - 2 }, () => 0), last);

describe('a queue of keys', () => {
  it('is a map with an order, whatever comes and goes', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ first: fc.nat(255), last: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.constant('remove' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.constantFrom(zeros, systemRandom), (steps, random) => {
        const queue = new KeyQueue(8, random);
        const model = new Map<string, number>();
        let written = 0;
        for (const one of steps) {
          if (one === 'remove') {
            const oldest = model.keys().next().value;
            if (oldest !== undefined) {
              expect(queue.keyAt(queue.first)).toBe(oldest);
              model.delete(oldest);
            }
            queue.removeFirst();
          } else {
            const key = keyOf(one.first, one.last);
            const position = queue.find(key);
            expect(position !== undefined).toBe(model.has(key));
            if (position !== undefined) {
              expect(queue.valuesOf(position).view.getFloat64(queue.valueOffsetOf(position))).toBe(model.get(key));
              continue;
            }
            const added = queue.append(key);
            queue.valuesOf(added).view.setFloat64(queue.valueOffsetOf(added), ++written);
            model.set(key, written);
          }
          expect(queue.size).toBe(model.size);
        }
        for (const key of model.keys()) expect(queue.keyAt(queue.find(key) as number)).toBe(key);
      }),
    );
  });

  it('keeps every key while it grows and shrinks by many blocks', () => {
    const queue = new KeyQueue(8);
    const keys = Array.from({ length: 40_000 }, (_, i) =>
      String.fromCharCode(i & 255, i >> 8, ...Array.from({ length: KEY_LENGTH - 2 }, () => 255)),
    );
    for (const [i, key] of keys.entries()) {
      const position = queue.append(key);
      queue.valuesOf(position).view.setFloat64(queue.valueOffsetOf(position), i);
      if (i % 3 === 2) queue.removeFirst();
    }
    const goneCount = Math.floor(keys.length / 3);
    expect(queue.size).toBe(keys.length - goneCount);
    for (const [i, key] of keys.entries()) {
      const position = queue.find(key);
      expectEqual(position, i < goneCount ? undefined : i, () => `key ${i}`);
      if (i < goneCount) continue;
      expectEqual(queue.valuesOf(i).view.getFloat64(queue.valueOffsetOf(i)), i, () => `value of ${i}`);
    }
    for (let i = 0; i < keys.length; i++) queue.removeFirst();
    expect(queue.size).toBe(0);
    expect(queue.append(keys[0] as string)).toBe(keys.length);
    expect(queue.find(keys[0] as string)).toBe(keys.length);
    expect(queue.find(keys[1] as string)).toBeUndefined();
  });

  it('takes keys of one length only', () => {
    expect(() => new KeyQueue(0).append('short')).toThrow('5 code units');
  });
});
