/**
 * Pseudorandom numbers from a seed: the same sequence in every run and on every runtime. For synthetic data and tests; never
 * for secrets.
 *
 * The generator is sfc32, 128 bits of state and 32-bit operations only (Chris Doty-Humphrey's PractRand).
 */
import type { Random } from './random.ts';

export class SeededRandom implements Random {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  /**
   * @param seed any integer; only its low 32 bits matter
   * @param stream distinguishes the sequences of one seed
   */
  constructor(seed: number, stream = 0) {
    this.reseed(seed, stream);
  }

  /** Starts the sequence of a seed and a stream. Twelve rounds mix them, as the author of sfc32 recommends. */
  reseed(seed: number, stream: number): void {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = 0x9e3779b9 | 0;
    this.#counter = 1;
    for (let i = 0; i < 12; i++) this.unit();
  }

  /** 32 bits, 0 .. 2^32 - 1. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** [0, 1) in steps of 2^-32. */
  unit(): number {
    return this.bits() / 0x1_0000_0000;
  }

  /** 0 .. count - 1, uniform up to one part in 2^32 / count. */
  below(count: number): number {
    return Math.floor(this.unit() * count);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.bits() >>> 24);
  }

  uuid(): string {
    const hex = [...this.bytes(16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
