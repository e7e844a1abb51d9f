/**
 * Validates JSON as bytes, so that it can be stored as text: big numbers, key order, escapes and repeated keys come back as
 * sent, because the server never parses and rewrites them. Bytes are acceptable when they are UTF-8 (a BOM is allowed and
 * dropped), hold one JSON value (RFC 8259, exactly what `JSON.parse` accepts), and nest at most JSON_DEPTH_MAX arrays and
 * objects: both runtimes parse deeper values and then overflow the stack when they write them.
 *
 * Cost: two passes over the bytes, no allocation. `JSON.parse` would allocate a text and a value only to drop both.
 */
import { isUtf8 } from 'node:buffer';
import { JSON_DEPTH_MAX } from './limits.ts';

/** Drops a BOM. Decoding in one piece keeps no state between calls. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes acceptable JSON to its text, without a BOM and with its white space; undefined for other bytes. */
export function jsonTextOf(bytes: Uint8Array): string | undefined {
  return isJson(bytes) ? utf8.decode(bytes) : undefined;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LOWER_U = 0x75;

/** Stands for a byte past the end; no token begins with it. */
const NOTHING = 0;

const WORDS = ['true', 'false', 'null'].map((word) => new TextEncoder().encode(word));
/** By byte: 1 when a string may hold it unescaped, which excludes control characters, the quote and the backslash. */
const IS_PLAIN = new Uint8Array(256).fill(1, SPACE);
IS_PLAIN[QUOTE] = 0;
IS_PLAIN[BACKSLASH] = 0;
/** By byte: 1 when it may follow a backslash; `u` is handled separately. */
const IS_ESCAPE = new Uint8Array(256);
for (const letter of '"\\/bfnrt') IS_ESCAPE[letter.charCodeAt(0)] = 1;

/** What the grammar allows next. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'comma-or-end';

/** Scratch: the bracket that closes each open array and object, outermost first. */
const closing = new Uint8Array(JSON_DEPTH_MAX);

/** True when the bytes are acceptable JSON. */
export function isJson(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let depth = 0;
  let expected: Expected = 'value';
  for (;;) {
    at = pastBlanks(bytes, at);
    if (at === bytes.length) return depth === 0 && expected === 'comma-or-end';
    const byte = bytes[at]!; // at < bytes.length
    if (expected === 'comma-or-end') {
      if (depth === 0) return false;
      at++;
      const end = closing[depth - 1];
      if (byte === COMMA) expected = end === CLOSE_BRACE ? 'key' : 'value';
      else if (byte === end) depth--;
      else return false;
    } else if (expected === 'key' || expected === 'key-or-end') {
      if (byte === QUOTE) {
        at = pastString(bytes, at + 1);
        if (at < 0) return false;
        at = pastBlanks(bytes, at);
        if (at === bytes.length || bytes[at] !== COLON) return false;
        at++;
        expected = 'value';
      } else if (byte === CLOSE_BRACE && expected === 'key-or-end') {
        at++;
        depth--;
        expected = 'comma-or-end';
      } else return false;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === JSON_DEPTH_MAX) return false;
      at++;
      closing[depth++] = byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      expected = byte === OPEN_BRACE ? 'key-or-end' : 'value-or-end';
    } else if (byte === CLOSE_BRACKET && expected === 'value-or-end') {
      at++;
      depth--;
      expected = 'comma-or-end';
    } else {
      at = byte === QUOTE ? pastString(bytes, at + 1) : pastWordOrNumber(bytes, at, byte);
      if (at < 0) return false;
      expected = 'comma-or-end';
    }
  }
}

function pastBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) break;
    at++;
  }
  return at;
}

/**
 * @param from index after the opening quote
 * @returns index after the closing quote, or -1 when the string is malformed
 */
function pastString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at++) {
    const byte = bytes[at]!;
    if (IS_PLAIN[byte] === 1) continue;
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) return -1;
    const escaped = ++at < length ? bytes[at]! : NOTHING;
    if (IS_ESCAPE[escaped] === 1) continue;
    if (escaped !== LOWER_U || at + 4 >= length) return -1;
    for (const end = at + 4; at < end; at++) if (!isHex(bytes[at + 1]!)) return -1;
  }
  return -1;
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

/**
 * @param byte the byte at `from`
 * @returns index after `true`, `false`, `null` or a number, or -1 when there is none
 */
function pastWordOrNumber(bytes: Uint8Array, from: number, byte: number): number {
  if (byte === MINUS || isDigit(byte)) return pastNumber(bytes, from);
  for (const word of WORDS) {
    if (byte !== word[0]) continue;
    for (let i = 1; i < word.length; i++) if (bytes[from + i] !== word[i]) return -1;
    return from + word.length;
  }
  return -1;
}

/**
 * RFC 8259 §6: a sign, digits without a leading zero, a fraction, an exponent.
 * @returns index after the number, or -1 when it is malformed
 */
function pastNumber(bytes: Uint8Array, from: number): number {
  const byteAt = (place: number): number => (place < bytes.length ? bytes[place]! : NOTHING);
  let at = byteAt(from) === MINUS ? from + 1 : from;
  if (!isDigit(byteAt(at))) return -1;
  at = byteAt(at) === ZERO ? at + 1 : pastDigits(bytes, at);
  if (byteAt(at) === POINT) {
    if (!isDigit(byteAt(++at))) return -1;
    at = pastDigits(bytes, at);
  }
  if ((byteAt(at) | 0x20) === 0x65) {
    at++;
    if (byteAt(at) === PLUS || byteAt(at) === MINUS) at++;
    if (!isDigit(byteAt(at))) return -1;
    at = pastDigits(bytes, at);
  }
  return at;
}

function pastDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isDigit(bytes[at]!)) at++;
  return at;
}
