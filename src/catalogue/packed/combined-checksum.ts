/**
 * The CRC-32 of two concatenated texts, from the checksum of each and the length of the second: appending n bytes multiplies
 * the first checksum by x^(8n) modulo the polynomial (the method of zlib's `crc32_combine`). Cost: some hundred steps.
 */

/** The polynomial of CRC-32 (ISO 3309), bits reversed, as in zlib. */
const POLYNOMIAL = 0xedb88320;
const TOP = 0x8000_0000;

/** Product modulo the polynomial; the top bit is the coefficient of x^0. */
function product(a: number, b: number): number {
  let sum = 0;
  for (let bit = TOP; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= b;
    b = (b & 1) === 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return sum >>> 0;
}

/** x^(2^n). */
const POWERS = [TOP >>> 1];
for (let n = 1; n < 32; n++) POWERS.push(product(POWERS[n - 1]!, POWERS[n - 1]!));

/** @param byteLength of the second text */
export function combinedChecksum(first: number, second: number, byteLength: number): number {
  let shift = TOP;
  // x^(8n): n times x^(2^3). The powers repeat after 32.
  for (let left = byteLength, n = 3; left > 0; left = Math.floor(left / 2), n = (n + 1) & 31) {
    if (left % 2 === 1) shift = product(POWERS[n]!, shift);
  }
  return (product(shift, first) ^ second) >>> 0;
}
