/**
 * Writes a text of several pieces as UTF-8 into one buffer, for a runtime whose Response copies the bytes of its body. A
 * separate text of kilobytes for each response would live until the next collection, which is rare beside a catalogue in
 * memory, and on Bun would touch new pages of memory each time (bench/peers, "offer, new questions").
 */
import { Buffer } from 'node:buffer';

/** A code unit of UTF-16 takes at most three bytes of UTF-8; a pair of them takes four. */
const UNIT_BYTES_MAX = 3;

export class SharedBytes {
  #buffer = Buffer.alloc(0);

  /** The bytes of the joined pieces. The next call overwrites them. */
  of(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
    let unitCount = 0;
    for (const piece of pieces) unitCount += piece.length;
    if (unitCount * UNIT_BYTES_MAX > this.#buffer.length) this.#buffer = Buffer.alloc(unitCount * UNIT_BYTES_MAX * 2);
    let end = 0;
    for (const piece of pieces) end += this.#buffer.write(piece, end);
    return this.#buffer.subarray(0, end);
  }
}
