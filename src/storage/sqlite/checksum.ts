/**
 * Checksums of the records of the state file. SQLite checks the structure of its pages and not their content, so each record
 * has a CRC-32, which finds any burst of up to 32 damaged bits.
 */
import { crc32 } from '../../base/crc32.ts';

/** The state file, or a record of it, is damaged. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/**
 * Checksum of fields in their order; text counts as UTF-8. Lengths count too, so that bytes cannot move between fields.
 * Adjacent text fields are summed in one call: a call for each took longer than the sums.
 */
export function checksumOfFields(...fields: readonly (string | number | Uint8Array)[]): number {
  let sum = 0;
  let text = '';
  for (const field of fields) {
    if (typeof field === 'object') {
      sum = crc32(`${text}${field.length}:`, sum);
      // For an array without memory, which SQLite returns for an empty blob, Node 22 returns 0 and drops the running sum.
      if (field.length > 0) sum = crc32(field, sum);
      text = '';
    } else {
      const shown = String(field);
      text += `${shown.length}:${shown}`;
    }
  }
  return crc32(text, sum);
}
