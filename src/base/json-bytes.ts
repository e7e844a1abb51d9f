/**
 * Writes JSON as UTF-8 (RFC 8259) into a buffer, for answers whose texts are bytes already: no piece becomes a string, and
 * exactly what JSON.stringify escapes is escaped. Each function writes from `at` on and returns the end; the caller makes
 * room.
 *
 * Bytes are copied one by one: for most pieces that is cheaper than a call of the runtime. Functions rather than a class: on
 * both engines fields cost more than the bytes (bench/data-api.ts).
 */
import { Buffer } from 'node:buffer';
import { isoTimeInto, TIME_LENGTH_MAX } from './iso-time.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Bytes that one byte of a text takes at most: `\u00XX`. */
export const ESCAPE_LENGTH_MAX = 6;
/** Bytes of a time, at most. */
export const JSON_TIME_LENGTH_MAX = TIME_LENGTH_MAX + 2;

/** By byte: its escape, for bytes that JSON.stringify escapes. */
const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const isEscaped = byte < 0x20 || byte === QUOTE || byte === BACKSLASH;
  return isEscaped ? JSON.stringify(String.fromCharCode(byte)).slice(1, -1) : '';
});

/** Bytes of a text that is JSON already. */
export const jsonPiece = (text: string): Buffer => Buffer.from(text);

/** Writes JSON as it is. */
export function pieceInto(into: Buffer, at: number, piece: Buffer): number {
  const { length } = piece;
  for (let i = 0; i < length; i++) into[at + i] = piece[i]!;
  return at + length;
}

/** Writes the UTF-8 at `start .. end - 1` as a string. */
export function stringInto(into: Buffer, at: number, from: Buffer, start: number, end: number): number {
  into[at++] = QUOTE;
  for (let i = start; i < end; i++) {
    const byte = from[i]!;
    if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) at += into.write(ESCAPES[byte]!, at, 'latin1');
    else into[at++] = byte;
  }
  into[at++] = QUOTE;
  return at;
}

/** Writes a time, as `isoTime` has it, as a string. @throws RangeError as `isoTime` */
export function timeInto(into: Buffer, at: number, unixMs: number): number {
  into[at] = QUOTE;
  const end = isoTimeInto(unixMs, into, at + 1);
  into[end] = QUOTE;
  return end + 1;
}
