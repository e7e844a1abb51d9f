/**
 * The small chunks of a body that has no reader yet, joined: node:http makes an object of some 400 bytes of each chunk, and a
 * client that sends a byte a chunk would fill a stream of 64 KiB with 25 MiB of them.
 */
import { Buffer } from 'node:buffer';

/** A chunk of this length or more is worth an object of its own. */
export const SMALL_CHUNK_BYTES = 1_024;
/** Chunks are joined up to this length. */
const JOINED_BYTES = 4 * SMALL_CHUNK_BYTES;

export class SmallChunks {
  #joined = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  hasRoomFor(chunk: Uint8Array): boolean {
    return this.#length + chunk.length <= JOINED_BYTES;
  }

  /** There is room for it. */
  add(chunk: Uint8Array): void {
    if (this.#length === 0) this.#joined = Buffer.allocUnsafeSlow(JOINED_BYTES);
    this.#joined.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** What was added since the last time; undefined for nothing. */
  take(): Buffer | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#joined.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}
