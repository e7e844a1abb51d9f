/**
 * Caches the most recent byte strings by whole number, in a ring that overwrites its oldest bytes: caching allocates nothing,
 * and the collector has nothing to scan. A number has one slot, which another number may take over.
 *
 * Memory: the ring as far as it was written, and 16 bytes a slot.
 */
import { Buffer } from 'node:buffer';

export class KeptBytes {
  readonly #ring: Buffer;
  /** Bytes ever written, including skipped ends of the ring. An entry is intact until the ring comes round to it again. */
  #written = 0;
  // One element per slot.
  /** The number + 1; 0 = free. */
  readonly #numbers: Uint32Array;
  /** `#written` when the entry began. */
  readonly #starts: Float64Array;
  readonly #lengths: Uint32Array;

  /** @param slotCount a power of two */
  constructor(byteCount: number, slotCount: number) {
    this.#ring = Buffer.allocUnsafeSlow(byteCount);
    this.#numbers = new Uint32Array(slotCount);
    this.#starts = new Float64Array(slotCount);
    this.#lengths = new Uint32Array(slotCount);
  }

  /** @param number below 2^32 - 1 */
  has(number: number): boolean {
    const slot = number & (this.#numbers.length - 1);
    return this.#numbers[slot] === number + 1 && this.#written - this.#starts[slot]! <= this.#ring.length;
  }

  /** Length of the bytes of a number that `has` knows. */
  lengthOf(number: number): number {
    return this.#lengths[number & (this.#numbers.length - 1)]!;
  }

  /** Copies the bytes of a number that `has` knows. @returns their end */
  copyInto(number: number, into: Buffer, at: number): number {
    const slot = number & (this.#numbers.length - 1);
    const start = this.#starts[slot]! % this.#ring.length;
    return at + this.#ring.copy(into, at, start, start + this.#lengths[slot]!);
  }

  /** Caches the bytes, unless they are longer than a sixteenth of the ring. */
  keep(number: number, from: Buffer, start: number, end: number): void {
    const { length } = this.#ring;
    if (end - start > length / 16) return;
    const rest = length - (this.#written % length);
    if (rest < end - start) this.#written += rest;
    from.copy(this.#ring, this.#written % length, start, end);
    const slot = number & (this.#numbers.length - 1);
    this.#numbers[slot] = number + 1;
    this.#starts[slot] = this.#written;
    this.#lengths[slot] = end - start;
    this.#written += end - start;
  }
}
