/** Where the bytes of a snapshot are. Reading is synchronous: the rows of an answer belong to one moment. */
export interface SnapshotSource {
  /** The name in errors: a path, or another name that the operator knows. */
  readonly name: string;
  readonly byteLength: number;
  /** The bytes from `offset` on: `length` of them, or fewer where the source ends early. Not modified afterwards. */
  read(offset: number, length: number): Uint8Array;
  /** The same without a fresh buffer: the bytes are valid until the next call of this method. */
  readTransient(offset: number, length: number): Uint8Array;
  /** Reads into the caller's memory. @returns bytes read: fewer than there is room for where the source ends early */
  readInto(offset: number, into: Uint8Array): number;
  /** Whether, as far as a cheap check can tell, the source is as it was when it was opened. */
  isUnchanged(): boolean;
  close(): void;
}

/** Bytes in memory as a source. They are not copied, so the caller must not change them afterwards. */
export function memorySource(name: string, bytes: Uint8Array): SnapshotSource {
  return {
    name,
    byteLength: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    readTransient: (offset, length) => bytes.subarray(offset, offset + length),
    readInto: (offset, into) => {
      const held = bytes.subarray(offset, offset + into.length);
      into.set(held);
      return held.length;
    },
    isUnchanged: () => true,
    close: () => {},
  };
}
