/**
 * Joins the small chunks of a body without a reader: node:http makes an object of some 400 bytes for each chunk, so a
 * client that sends one byte a chunk would fill a stream of 64 KiB with 25 MiB of objects.
 */
import { Buffer } from 'node:buffer';

/** A chunk of at least this length may have its own object. */
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

  /** Adds a chunk, for which there must be room. */
  add(chunk: Uint8Array): void {
    if (this.#length === 0) this.#joined = Buffer.allocUnsafeSlow(JOINED_BYTES);
    this.#joined.set(chunk, this.#length);
    this.#length += chunk.length;
  }

  /** The bytes added since the last call; undefined if none. */
  take(): Buffer | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#joined.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}
