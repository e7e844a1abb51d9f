/** The harness's own chance: everything that is decided follows from one seed and the names of what it is decided for. */
import { crc32 } from 'node:zlib';
import { SeededRandom } from '../support/manual-time.ts';

export class Chance extends SeededRandom {
  readonly #seed: number;

  constructor(seed: number) {
    super(seed);
    this.#seed = seed;
  }

  /** Chance of its own for a part of the run, the same whatever the other parts did. */
  of(...names: readonly (string | number)[]): Chance {
    return new Chance(crc32(`${this.#seed}/${names.join('/')}`));
  }

  /** True in `share` of the cases, 0 to 1. */
  isLucky(share: number): boolean {
    return this.below(1_000_000) < share * 1_000_000;
  }

  /** `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      if (left < weight) return name;
      left -= weight;
    }
    throw new Error('weights add up to nothing');
  }

  hex(byteCount: number): `0x${string}` {
    return `0x${Buffer.from(this.bytes(byteCount)).toString('hex')}`;
  }
}
