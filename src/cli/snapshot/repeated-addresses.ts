import { grown } from '../../catalogue/snapshot/column-arrays.ts';

/**
 * Counts repeated addresses, in eight bytes an address: by a hash of 53 bits. Among ten million addresses two share a
 * hash with a chance of half a percent; then the count is one too high.
 */
export class RepeatedAddresses {
  #hashes = new Float64Array(1024);
  #count = 0;

  add(address: string): void {
    if (this.#count === this.#hashes.length) this.#hashes = grown(this.#hashes);
    this.#hashes[this.#count++] = hashOf(address);
  }

  /** Addresses added, not counting the first of each. */
  get repeatedCount(): number {
    const sorted = this.#hashes.slice(0, this.#count).sort();
    let repeated = 0;
    for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) repeated++;
    return repeated;
  }
}

/** Two multiplicative hashes of 32 bits, 53 bits of both. */
function hashOf(text: string): number {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b);
  }
  one = Math.imul(one ^ (one >>> 16), 0x7feb352d);
  other = Math.imul(other ^ (other >>> 15), 0x846ca68b);
  return ((other ^ (other >>> 16)) >>> 11) * 2 ** 32 + ((one ^ (one >>> 15)) >>> 0);
}
