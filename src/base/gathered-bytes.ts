/**
 * Bytes that arrive in pieces, as one array. Pieces are copied into it: keeping them would take some 400 bytes more for each,
 * and a client chooses how small they are.
 */
export class GatheredBytes {
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const start = this.#length;
    this.#length += piece.length;
    // Most bodies are a single piece, which needs no copy.
    if (start === 0) this.#bytes = piece;
    else {
      if (this.#length > this.#bytes.length) this.#grow(start);
      this.#bytes.set(piece, start);
    }
  }

  #grow(used: number): void {
    const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, used));
    this.#bytes = larger;
  }

  /** All bytes so far. Add nothing afterwards. */
  bytes(): Uint8Array {
    // Only an array that grew is longer, and that is not a Buffer, whose `slice` would not copy.
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.slice(0, this.#length);
  }

  /** Forgets the bytes. */
  clear(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }
}
