/** Chance from a seed: xorshift128, the same draws in every run of one seed, on every runtime. */
import type { Random } from '../../src/base/random.ts';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export class Chance implements Random {
  #a: number;
  #b = 0x9e3779b9;
  #c = 0x243f6a88;
  #d = 0xb7e15162;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b ^= Math.floor(seed / 4_294_967_296) >>> 0;
    for (let i = 0; i < 16; i++) this.next();
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

  is(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A delay: mostly near `typicalMs`, now and then up to `longMs`. */
  delayMs(typicalMs: number, longMs: number, longShare: number): number {
    return this.is(longShare) ? this.between(typicalMs, longMs) : this.between(typicalMs / 4, typicalMs * 2);
  }

  /** A generator of its own, so that who draws more does not move what others draw. */
  fork(): Chance {
    return new Chance(this.next());
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let i = 0; i < count; i++) bytes[i] = this.next() >>> 24;
    return bytes;
  }

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
