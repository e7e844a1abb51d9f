/** Little-endian numbers in bytes that may start anywhere. */

export function uint32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

export function float64At(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at, 8).getFloat64(0, true);
}

/** A view of the bytes, or a copy where no typed array can start. @param bytes a multiple of 4 long */
export function uint32sIn(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(buffer, byteOffset, bytes.length / 4);
}

/** The same for numbers of 8 bytes. */
export function float64sIn(bytes: Uint8Array): Float64Array {
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes);
  return new Float64Array(buffer, byteOffset, bytes.length / 8);
}
