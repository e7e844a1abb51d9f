/**
 * Strict text codecs (RFC 4648 base64 and hex, UTF-8). A decoder accepts exactly one spelling of each byte string, up to
 * base64 padding and the case of hex digits: what the runtimes forgive (white space, other alphabets, stray bits) is
 * refused here. The work is the runtime's own, by the calls that make the fewest objects: a typed array asked for its
 * buffer, or a Buffer around one, costs more than the digits.
 */
import { Buffer } from 'node:buffer';

/** The same bytes, as the class that has the codecs. */
const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Bytes of standard base64 as a string of code units 0..255, or undefined. Padding may be whole or absent, never partial;
 * the unused bits of the last digit must be zero, so that no two texts of one length mean the same bytes.
 */
export function decodeBase64(text: string): string | undefined {
  let decoded: string;
  try {
    decoded = atob(text);
  } catch {
    return undefined;
  }
  // Whatever was forgiven is not there when the bytes are written again.
  const spelled = btoa(decoded);
  const isSame = spelled.length === text.length ? spelled === text : spelled.replace(/=+$/, '') === text;
  return isSame ? decoded : undefined;
}

/** Padded standard base64. */
export const encodeBase64 = (bytes: Uint8Array): string => viewOf(bytes).toString('base64');

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf8 = new TextEncoder();
const BEYOND_ASCII = /[^\0-\x7f]/;

/** The text, or undefined when the bytes are not UTF-8. A byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The same of bytes as code units 0..255. */
export const decodeUtf8Latin1 = (bytes: string): string | undefined =>
  BEYOND_ASCII.test(bytes) ? decodeUtf8(Buffer.from(bytes, 'latin1')) : bytes;

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

/** A runtime takes the low byte of a character for a digit. */
const HEX_DIGITS = /^[0-9A-Fa-f]*$/;

/** Bytes of an even number of hex digits, either case, or undefined. */
export function decodeDigits(digits: string): Uint8Array | undefined {
  return digits.length % 2 === 0 && HEX_DIGITS.test(digits) ? Buffer.from(digits, 'hex') : undefined;
}

/** Bytes of `0x` and an even number of hex digits, either case, or undefined. */
export function decodeHex(text: string): Uint8Array | undefined {
  return text.startsWith('0x') ? decodeDigits(text.slice(2)) : undefined;
}

/** `0x` and lower-case hex digits. */
export const encodeHex = (bytes: Uint8Array): string => `0x${viewOf(bytes).toString('hex')}`;

/** Lower-case hex digits of a string of code units 0..255. */
export const hexOfLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
