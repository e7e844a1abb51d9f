import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';

describe('bytes of the system', () => {
  it.each([0, 1, 16, 32, 64, 65, 5000])('gives %i bytes in memory of their own', (count) => {
    const bytes = systemRandom.bytes(count);
    expect(bytes).toHaveLength(count);
    expect(bytes.buffer.byteLength).toBe(count);
  });

  it('gives no bytes twice, also beyond what it draws from the system at once', () => {
    const drawn = Array.from({ length: 1000 }, () => systemRandom.bytes(16).join());
    expect(new Set(drawn).size).toBe(1000);
  });

  it('gives every value of a byte, at every place of what it draws at once', () => {
    const seen = Array.from({ length: 64 }, () => new Set<number>());
    for (let draw = 0; draw < 4000; draw++) {
      for (const [place, byte] of systemRandom.bytes(64).entries()) seen[place]!.add(byte);
    }
    // 4,000 fair bytes miss a given value once in six million places.
    for (const values of seen) expect(values.size).toBeGreaterThan(250);
  });

  it('leaves what it gave before as it was', () => {
    const first = systemRandom.bytes(16);
    const copy = first.slice();
    for (let draw = 0; draw < 1000; draw++) systemRandom.bytes(16);
    expect(first).toEqual(copy);
  });
});
