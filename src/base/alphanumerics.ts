/**
 * Random letters and digits from the CSPRNG that the caller passes. Bytes that would favour some characters are rejected (248
 * = 4 x 62 of the 256 values are used), so all are equally likely. The text is joined in one step: a string that grows letter
 * by letter would stay a tree of its pieces for as long as it lives (bench/callback-store.ts).
 */
import type { Random } from './random.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const FAIR_BYTE_COUNT = 256 - (256 % ALPHABET.length);

/** Draws `count` letters and digits, each uniform and independent. */
export function alphanumerics(random: Random, count: number): string {
  const letters: string[] = [];
  while (letters.length < count) {
    // 3 % of the bytes are rejected; drawing an eighth more makes a second draw rare.
    const bytes = random.bytes(count - letters.length + (count >> 3) + 1);
    for (let i = 0; i < bytes.length && letters.length < count; i++) {
      const byte = bytes[i]!; // i < bytes.length
      if (byte < FAIR_BYTE_COUNT) letters.push(ALPHABET[byte % ALPHABET.length]!); // the rest is below its length
    }
  }
  return letters.join('');
}
