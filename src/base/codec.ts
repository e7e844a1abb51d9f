/**
 * Strict text codecs (RFC 4648 base64 and hex, UTF-8). A decoder accepts exactly one spelling of each byte string, up to
 * base64 padding and the case of hex digits: what the runtimes forgive (white space, other alphabets, stray bits) is
 * refused here. One pass each; about 1 ns a byte on the machine of `performance.md`.
 */
const BASE64_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const NOT_A_DIGIT = 255;

/** Code unit (0..127) -> value of the digit, {@link NOT_A_DIGIT} for anything else. */
function digitTable(alphabet: string): Uint8Array {
  const table = new Uint8Array(128).fill(NOT_A_DIGIT);
  for (let i = 0; i < alphabet.length; i++) table[alphabet.charCodeAt(i)] = i;
  return table;
}

const BASE64_DIGITS = digitTable(BASE64_ALPHABET);
const HEX_DIGITS = digitTable('0123456789abcdef');
for (let i = 10; i < 16; i++) HEX_DIGITS['ABCDEF'.charCodeAt(i - 10)] = i;

const EQUALS_SIGN = 61;

/** Value of the digit at `i`, or a number that makes every `<<` and `|` with it negative. */
function base64DigitAt(text: string, i: number): number {
  const unit = text.charCodeAt(i);
  const digit = unit < 128 ? BASE64_DIGITS[unit]! : NOT_A_DIGIT;
  return digit === NOT_A_DIGIT ? -0x1000 : digit;
}

/**
 * Bytes of standard base64, or undefined. Padding may be whole or absent, never partial; the unused bits of the last digit
 * must be zero, so that no two texts of one length mean the same bytes.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  let digitCount = text.length;
  if (digitCount > 0 && text.charCodeAt(digitCount - 1) === EQUALS_SIGN) {
    if (digitCount % 4 !== 0) return undefined;
    digitCount--;
    if (text.charCodeAt(digitCount - 1) === EQUALS_SIGN) digitCount--;
  }
  const rest = digitCount % 4;
  if (rest === 1 || (digitCount < text.length && rest === 0)) return undefined;
  const bytes = new Uint8Array((digitCount * 3) >> 2);
  let at = 0;
  const wholeCount = digitCount - rest;
  for (let i = 0; i < wholeCount; i += 4) {
    const bits =
      (base64DigitAt(text, i) << 18) |
      (base64DigitAt(text, i + 1) << 12) |
      (base64DigitAt(text, i + 2) << 6) |
      base64DigitAt(text, i + 3);
    if (bits < 0) return undefined;
    bytes[at++] = bits >> 16;
    bytes[at++] = bits >> 8;
    bytes[at++] = bits;
  }
  if (rest === 0) return bytes;
  // Two digits carry a byte and 4 unused bits, three carry two bytes and 2 unused bits.
  const second = base64DigitAt(text, wholeCount + 1);
  const third = rest === 3 ? base64DigitAt(text, wholeCount + 2) : 0;
  const bits = (base64DigitAt(text, wholeCount) << 12) | (second << 6) | third;
  if (bits < 0 || (bits & (rest === 3 ? 0x3 : 0x3ff)) !== 0) return undefined;
  bytes[at++] = bits >> 10;
  if (rest === 3) bytes[at] = bits >> 2;
  return bytes;
}

/** `String.fromCharCode` takes its input as arguments; this many are safe on every stack. */
const CHUNK_BYTES = 8192;

/** `apply` takes an array as it is; spreading one goes through its iterator, nine times slower on Node 26. */
const textOf = (units: Uint8Array): string => String.fromCharCode.apply(null, units as unknown as number[]);

/** Bytes as a string of code units 0..255, in one piece up to 8 KiB. */
export function latin1Of(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK_BYTES) return textOf(bytes);
  let text = '';
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) text += textOf(bytes.subarray(i, i + CHUNK_BYTES));
  return text;
}

/** Bytes of a string of code units 0..255. */
export function bytesOfLatin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Padded standard base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(latin1Of(bytes));
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf8 = new TextEncoder();

/** The text, or undefined when the bytes are not UTF-8. A byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

/**
 * Writes the bytes of hex digits, either case.
 * text   digits begin at `from`; there are at least 2 * byteCount of them
 * into   receives `byteCount` bytes at `at`
 * returns false when a character is no hex digit; `into` is then partly written
 */
export function decodeHexInto(text: string, from: number, into: Uint8Array, at: number, byteCount: number): boolean {
  for (let i = 0; i < byteCount; i++) {
    const high = text.charCodeAt(from + 2 * i);
    const low = text.charCodeAt(from + 2 * i + 1);
    if (!(high < 128 && low < 128)) return false; // NaN past the end is refused here too
    const value = (HEX_DIGITS[high]! << 4) | HEX_DIGITS[low]!;
    if (value > 255 || HEX_DIGITS[low] === NOT_A_DIGIT) return false;
    into[at + i] = value;
  }
  return true;
}

/** Bytes of `0x` and an even number of hex digits, or undefined. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!text.startsWith('0x') || text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array((text.length - 2) >> 1);
  return decodeHexInto(text, 2, bytes, 0, bytes.length) ? bytes : undefined;
}

const HEX_UNITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/**
 * `0x` and lower-case hex digits. Made in one piece: a string added up from pairs is kept as a tree of them, 1 KB for a
 * transaction hash that stays.
 */
export function encodeHex(bytes: Uint8Array): string {
  const units = new Uint8Array(2 + 2 * bytes.length);
  units[0] = HEX_UNITS[0]!;
  units[1] = 0x78; // x
  for (let i = 0; i < bytes.length; i++) {
    units[2 + 2 * i] = HEX_UNITS[bytes[i]! >> 4]!;
    units[3 + 2 * i] = HEX_UNITS[bytes[i]! & 15]!;
  }
  return latin1Of(units);
}
