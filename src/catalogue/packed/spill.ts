/**
 * Bytes that a build sets aside, so that it need not hold every description in memory. A file (adapters/files) or memory.
 */
export interface Spill {
  /** Appends a copy of the bytes. @returns where they begin @throws SnapshotError when there is no room */
  append(bytes: Uint8Array): number;
  /** Bytes that were appended; valid until the next call. @throws SnapshotError when they cannot be read */
  read(offset: number, length: number): Uint8Array;
  /** Frees the bytes. Calling it again does nothing. */
  close(): void;
}

const FIRST_BYTES = 2 ** 16;

/** For small catalogues: the sample, tests. */
export class MemorySpill implements Spill {
  #bytes = new Uint8Array(FIRST_BYTES);
  #length = 0;

  append(bytes: Uint8Array): number {
    const start = this.#length;
    const end = start + bytes.length;
    if (end > this.#bytes.length) {
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(Math.max(end, this.#bytes.length * 2)));
    }
    this.#bytes.set(bytes, start);
    this.#length = end;
    return start;
  }

  read(offset: number, length: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + length);
  }

  close(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }
}
