/**
 * Seeded chance for tests (xorshift128): a seed gives the same draws in every run, on every runtime and machine. Not
 * suitable for secrets.
 */
import { crc32 } from 'node:zlib';
import type { Random } from '../../src/base/random.ts';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export class Chance implements Random {
  readonly #seed: number;
  #a: number;
  #b = 0x9e3779b9;
  #c = 0x243f6a88;
  #d = 0xb7e15162;

  /** @param seed a whole number, 0 .. 2^53 - 1 */
  constructor(seed: number) {
    this.#seed = seed;
    this.#a = seed >>> 0;
    this.#b ^= Math.floor(seed / 4_294_967_296) >>> 0;
    for (let i = 0; i < 16; i++) this.next();
  }

  /** A generator for one part of a run. It takes one draw; later draws on either side do not affect the other's. */
  fork(): Chance {
    return new Chance(this.next());
  }

  /** A generator for the named part of a run. It depends only on seed and name, and takes no draw. */
  named(...names: readonly (string | number)[]): Chance {
    return new Chance(crc32(`${this.#seed}/${names.join('/')}`));
  }

  /** 0 .. 2^32 - 1. */
  next(): number {
    const t = this.#a ^ (this.#a << 11);
    this.#a = this.#b;
    this.#b = this.#c;
    this.#c = this.#d;
    this.#d = (this.#d ^ (this.#d >>> 19) ^ (t ^ (t >>> 8))) >>> 0;
    return this.#d;
  }

  /** 0 <= value < 1. */
  unit(): number {
    return this.next() / 4_294_967_296;
  }

  /** A whole number, 0 <= value < below. */
  below(below: number): number {
    return Math.floor(this.unit() * below);
  }

  /** from <= value < to, with a fraction. */
  between(from: number, to: number): number {
    return from + this.unit() * (to - from);
  }

  /** A whole number, from <= value <= to. */
  wholeBetween(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True with this probability, 0 to 1. */
  is(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** One of the names, each with a probability in proportion to its weight, a whole number. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      if (left < weight) return name;
      left -= weight;
    }
    throw new Error('the weights add up to nothing');
  }

  /** A delay: mostly near `typicalMs`, with probability `longShare` up to `longMs`. */
  delayMs(typicalMs: number, longMs: number, longShare: number): number {
    return this.is(longShare) ? this.between(typicalMs, longMs) : this.between(typicalMs / 4, typicalMs * 2);
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let i = 0; i < count; i++) bytes[i] = this.next() >>> 24;
    return bytes;
  }

  /** Without a prefix. */
  hex(byteCount: number): string {
    let text = '';
    for (let i = 0; i < byteCount; i++) text += HEX[this.next() >>> 24];
    return text;
  }

  uuid(): string {
    const hex = this.hex(15);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18)}`;
  }
}
