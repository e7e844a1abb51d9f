/**
 * Records of the state file carry their own checksum (CRC-32, which finds any burst of up to 32 damaged bits), because the
 * database checks the structure of its pages and not what is in them.
 */
import { crc32 } from 'node:zlib';

/** A record is not what was written. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Checksum of fields in their order; text counts as UTF-8, and lengths count, so that fields cannot lend each other bytes. */
export function checksumOfFields(...fields: readonly (string | number | Uint8Array)[]): number {
  let sum = 0;
  for (const field of fields) {
    const bytes = typeof field === 'number' ? String(field) : field;
    sum = crc32(bytes, crc32(`${bytes.length}:`, sum));
  }
  return sum;
}
