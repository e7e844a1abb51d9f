/**
 * Strict text codecs (RFC 4648 base64 and hex, UTF-8). A decoder accepts exactly one spelling of each byte string, up to
 * base64 padding and the case of hex digits; it refuses deviations that the runtimes accept (white space, other alphabets,
 * stray bits).
 */
import { Buffer } from 'node:buffer';

/** The same memory as a Buffer, whose methods are the codecs. */
const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Decodes standard base64 to bytes, given as a string of code units 0..255; undefined when the text is not base64. Padding
 * may be complete or absent, never partial; the unused bits of the last digit must be zero, so that no two texts of one
 * length decode to the same bytes.
 */
export function decodeBase64(text: string): string | undefined {
  let decoded: string;
  try {
    decoded = atob(text);
  } catch {
    return undefined;
  }
  // `atob` accepts deviations; encoding the bytes again exposes them.
  const spelled = btoa(decoded);
  const isSame = spelled.length === text.length ? spelled === text : spelled.replace(/=+$/, '') === text;
  return isSame ? decoded : undefined;
}

/** Encodes bytes as padded standard base64. */
export const encodeBase64 = (bytes: Uint8Array): string => viewOf(bytes).toString('base64');

/** Encodes bytes as base64url without padding (RFC 4648 §5). */
export const encodeBase64Url = (bytes: Uint8Array): string => viewOf(bytes).toString('base64url');

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = '\ufeff';
const utf8 = new TextEncoder();
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Decodes UTF-8; undefined when the bytes are not UTF-8. A byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A text as its author meant it: a byte order mark at its start says how it is encoded, and is no part of it. */
export const withoutByteOrderMark = (text: string): string =>
  text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;

/** {@link decodeUtf8} of bytes given as code units 0..255. */
export const decodeUtf8Latin1 = (bytes: string): string | undefined =>
  BEYOND_ASCII.test(bytes) ? decodeUtf8(Buffer.from(bytes, 'latin1')) : bytes;

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

/** Decodes percent-encoded UTF-8 (RFC 3986 §2.1); undefined for a malformed escape or ill-formed UTF-8. */
export function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Checked here because the runtimes take any character's low byte for a digit. */
const HEX_DIGITS = /^[0-9A-Fa-f]*$/;

/** Decodes an even number of hex digits of either case; undefined for any other text. */
export function decodeDigits(digits: string): Uint8Array | undefined {
  return digits.length % 2 === 0 && HEX_DIGITS.test(digits) ? Buffer.from(digits, 'hex') : undefined;
}

/** Decodes `0x` and an even number of hex digits of either case; undefined for any other text. */
export function decodeHex(text: string): Uint8Array | undefined {
  return text.startsWith('0x') ? decodeDigits(text.slice(2)) : undefined;
}

/** ECMAScript 2026. Node 22 lacks it and uses a Buffer, which takes three to five times as long for a short array. */
const { toHex } = Uint8Array.prototype as { toHex?(): string };

/** Encodes bytes as lower-case hex digits. */
export const encodeDigits: (bytes: Uint8Array) => string =
  toHex === undefined ? (bytes) => viewOf(bytes).toString('hex') : (bytes) => toHex.call(bytes);

/** Encodes bytes as `0x` and lower-case hex digits. */
export const encodeHex = (bytes: Uint8Array): string => `0x${encodeDigits(bytes)}`;

/** Encodes bytes, given as code units 0..255, as lower-case hex digits without `0x`. */
export const hexOfLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString('hex');

/** Exactly `count` bytes as base64 with its padding (RFC 4648 §4), or undefined for any other text. */
export function base64Bytes(text: string, count: number): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === count && bytes.toString('base64') === text ? new Uint8Array(bytes) : undefined;
}
