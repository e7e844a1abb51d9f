/**
 * Writes events as the JSON of answers (callback.md, "Event"): head, body, and a tail with the size. A JSON body stands in it as
 * it was sent, a text body as a JSON string, decoded by its charset without a BOM, malformed bytes as U+FFFD (decisions §5).
 *
 * A short event is finished as one string. Longer answers are written in pieces of UTF-8 from the parts of their events: the
 * bytes are the same as the string's, but neither the body nor its text is ever whole in memory. Only malformed ISO-2022-JP may
 * differ: what a decoder makes of a wrong escape depends on all that came before it. The checksums of the store guard the
 * parts, so a JSON body that was acceptable when it was stored is not parsed again.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import { type BodyForm, UTF_8 } from '../base/media-type.ts';
import type { EventPart, InboxEvent, InlineEvent } from './event.ts';
import { ESCAPED_BYTES_MAX, PIECE_BYTES_MAX } from './limits.ts';

const TAIL_START = ',"size_bytes":';
const tailOf = (sizeBytes: number): string => `${TAIL_START}${sizeBytes}}`;
/** Six digits of size and the closing brace, and two quotes around a text. */
const TAIL_LENGTH_MAX = TAIL_START.length + 7 + 2;

const encoder = new TextEncoder();
/** Replaces malformed bytes by U+FFFD and drops a BOM. */
const utf8 = new TextDecoder(UTF_8);
/** The same for bytes in the middle of a body, where a BOM is a character. */
const utf8Inside = new TextDecoder(UTF_8, { ignoreBOM: true });

/** Writes an acceptable body as JSON text. */
function bodyJsonOf(form: BodyForm, bytes: Uint8Array): string {
  if (form.kind === 'json') return utf8.decode(bytes);
  const decoder = form.charset === UTF_8 ? utf8 : new TextDecoder(form.charset);
  return JSON.stringify(decoder.decode(bytes));
}

/** Finishes an event whose only part is given. */
export function finishedJson({ head, form, sizeBytes, bytes }: EventPart): string {
  return [head, bodyJsonOf(form, bytes), tailOf(sizeBytes)].join('');
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Finishes an event that memory holds whole. */
export function inlineJson({ text, bodyStart, form, sizeBytes }: InlineEvent): string {
  const head = text.slice(0, bodyStart);
  const body = text.slice(bodyStart);
  // ASCII is its own UTF-8. Other charsets may give the same bytes another meaning.
  if (!BEYOND_ASCII.test(body)) {
    if (form.kind === 'json') return text + tailOf(sizeBytes);
    if (form.charset === UTF_8) return [head, JSON.stringify(body), tailOf(sizeBytes)].join('');
  }
  return finishedJson({ head, form, sizeBytes, bytes: Buffer.from(body, 'latin1') });
}

/** A bound on the bytes of an event's JSON. Characters of a head are at most U+00FF, two bytes of UTF-8. */
export function jsonBytesMax({ bodyStart, form, sizeBytes }: InboxEvent): number {
  return 2 * bodyStart + (form.kind === 'json' ? 1 : ESCAPED_BYTES_MAX) * (sizeBytes + 1) + TAIL_LENGTH_MAX;
}

/** Bytes of a body that are decoded at a time; they become at most three times as many of UTF-8. */
const SLICE_BYTES = 16_384;
/** As SLICE_BYTES, for charsets other than UTF-8, one slice a piece: decoding a malformed slice takes a millisecond a try. */
const CHARSET_SLICE_BYTES = 4_096;
/** The most bytes of JSON from such a slice: a larger piece would allocate memory that is never filled. */
const SHORT_PIECE_BYTES = ESCAPED_BYTES_MAX * CHARSET_SLICE_BYTES;

/** Returns the UTF-8 of the next bytes of a body; it may hold back an incomplete character at their end. */
type Decode = (bytes: Uint8Array, isLast: boolean) => Uint8Array;

const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * The length of the longest prefix that ends with a whole character. A byte that begins a sequence always ends whatever was
 * pending in the decoder, so both sides of such a cut can be decoded separately.
 */
function wholeLength(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let i = end - 1; i >= 0 && i >= end - 3; i--) {
    const byte = bytes[i]!;
    if (byte < 0x80) return end;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return i + length > end ? i : end;
  }
  return end;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Well-formed bytes pass without a copy. */
function utf8Decode(): Decode {
  let heldBack = NO_BYTES;
  let isFirst = true;
  return (bytes, isLast) => {
    const all = joined(heldBack, bytes);
    const end = isLast ? all.length : wholeLength(all);
    heldBack = end === all.length ? NO_BYTES : all.slice(end);
    let whole = end === all.length ? all : all.subarray(0, end);
    if (isFirst && whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf) whole = whole.subarray(3);
    if (end > 0) isFirst = false;
    return isUtf8(whole) ? whole : encoder.encode(utf8Inside.decode(whole));
  };
}

/** By charset: the index of the high byte in a code unit of UTF-16. */
const UTF_16_HIGH_BYTES: Readonly<Record<string, 0 | 1>> = { 'utf-16be': 0, 'utf-16le': 1 };

/**
 * Decodes each slice separately, up to a lead surrogate at its end. That cut is safe: a lead before a lead has no partner anyway.
 *
 * @param highByte its index in a code unit
 */
function utf16Decode(charset: string, highByte: 0 | 1): Decode {
  const inside = new TextDecoder(charset, { ignoreBOM: true });
  let decoder = new TextDecoder(charset);
  let heldBack = NO_BYTES;
  return (bytes, isLast) => {
    const all = joined(heldBack, bytes);
    let end = isLast ? all.length : all.length - (all.length % 2);
    const endsWithLead = end >= 2 && (all[end - 2 + highByte]! & 0xfc) === 0xd8;
    if (!isLast && endsWithLead) end -= 2;
    heldBack = all.slice(end);
    const text = decoder.decode(all.subarray(0, end));
    if (end > 0) decoder = inside;
    return encoder.encode(text);
  };
}

/** Bytes of an incomplete character or escape at the end of a slice, at most: `ESC $ ( D`. */
const PENDING_BYTES_MAX = 4;

/**
 * Decodes each slice separately, cut where the decoder has nothing pending; these charsets have no BOM. A streaming decoder
 * would do, but Node's throws for gbk, gb18030, euc-jp and iso-2022-jp when a pending byte gives a slice more characters than
 * it has bytes.
 */
function charsetDecode(charset: string): Decode {
  const decoder = new TextDecoder(charset);
  const shift = charset === 'iso-2022-jp' ? new ShiftState() : undefined;
  let heldBack = NO_BYTES;
  return (bytes, isLast) => {
    const all = joined(heldBack, bytes);
    for (let end = all.length; ; end--) {
      const whole = shift === undefined ? all.subarray(0, end) : shift.before(all.subarray(0, end));
      const text = decoder.decode(whole, { stream: true });
      const pending = decoder.decode();
      // With no such cut among the last bytes, the sequence is malformed and may be split.
      const isEnd = isLast || pending === '' || end === all.length - PENDING_BYTES_MAX;
      if (!isEnd) continue;
      heldBack = all.slice(end);
      shift?.pass(all.subarray(0, end));
      return encoder.encode(text + pending);
    }
  };
}

const ESCAPE = 0x1b;
/** The escapes of ISO-2022-JP without their first byte, as its decoder in the Encoding Standard has them. */
const SHIFTS: readonly Uint8Array[] = ['(B', '(J', '(I', '$@', '$B'].map((shift) => encoder.encode(shift));

/** The escape in force between two slices of ISO-2022-JP, the only encoding in which escapes change what later bytes mean. */
class ShiftState {
  #escape = NO_BYTES;

  /** The bytes with the escape before them, unless they begin with one. */
  before(bytes: Uint8Array): Uint8Array {
    return bytes[0] === ESCAPE ? bytes : joined(this.#escape, bytes);
  }

  /** The bytes have been decoded. */
  pass(bytes: Uint8Array): void {
    for (let at = bytes.lastIndexOf(ESCAPE); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(ESCAPE, at - 1)) {
      if (!SHIFTS.some(([second, third]) => bytes[at + 1] === second && bytes[at + 2] === third)) continue;
      this.#escape = bytes.slice(at, at + 3);
      return;
    }
  }
}

function decodeOf(form: BodyForm): Decode {
  if (form.kind === 'json' || form.charset === UTF_8) return utf8Decode();
  const highByte = UTF_16_HIGH_BYTES[form.charset];
  return highByte === undefined ? charsetDecode(form.charset) : utf16Decode(form.charset, highByte);
}

/** By byte: 0 for a byte that a JSON string holds unescaped, the letter of a short escape, or `u` for `\u00` and two digits. */
const ESCAPES = new Uint8Array(256).fill('u'.charCodeAt(0), 0, 0x20);
for (const [byte, letter] of ['\bb', '\tt', '\nn', '\ff', '\rr', '""', '\\\\']) {
  ESCAPES[byte!.charCodeAt(0)] = letter!.charCodeAt(0);
}
const LONG_ESCAPE = 'u'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const HEX_DIGITS = encoder.encode('0123456789abcdef');

/** Writes one body as JSON, without a text's quotes, into one target after another. */
class BodyWriter {
  readonly #isText: boolean;
  /** True: one slice a piece. */
  readonly isSlow: boolean;
  readonly #decode: Decode;
  readonly #sliceBytes: number;
  /** Bytes of the body that are not decoded yet. */
  #leftBytes: number;
  #part: Uint8Array;
  #partAt = 0;
  /** Decoded bytes; those from `#utf8At` on are not written yet. */
  #utf8 = NO_BYTES;
  #utf8At = 0;
  #hasDecodedLast = false;

  constructor({ form, sizeBytes, bytes }: EventPart, sliceBytes: number) {
    this.#isText = form.kind === 'text';
    this.isSlow = form.kind === 'text' && form.charset !== UTF_8;
    this.#decode = decodeOf(form);
    this.#sliceBytes = this.isSlow ? Math.min(sliceBytes, CHARSET_SLICE_BYTES) : sliceBytes;
    this.#leftBytes = sizeBytes;
    this.#part = bytes;
  }

  /** Everything is written. */
  get isDone(): boolean {
    return this.#hasDecodedLast && this.#utf8At === this.#utf8.length;
  }

  /** Everything from the parts so far is written. */
  get needsPart(): boolean {
    return !this.#hasDecodedLast && this.#partAt === this.#part.length && this.#utf8At === this.#utf8.length;
  }

  /** @throws Error for a part that cannot be the body's next one: the store gives other bytes than it was given */
  continueWith(bytes: Uint8Array): void {
    if (bytes.length === 0 || bytes.length > this.#leftBytes) throw new Error('a part of another body');
    this.#part = bytes;
    this.#partAt = 0;
  }

  /** Writes until the target is full, the part is written, or the piece has enough. @returns where it ended */
  write(target: Uint8Array, from: number): number {
    let at = from;
    for (let sliceCount = 0; ; sliceCount++) {
      at = this.#isText ? this.#escape(target, at) : this.#copy(target, at);
      const isFull = this.#utf8At < this.#utf8.length;
      if (isFull || this.#hasDecodedLast || (this.#partAt === this.#part.length && this.#leftBytes > 0)) return at;
      if (this.isSlow && sliceCount > 0 && at > from) return at;
      const slice = this.#part.subarray(this.#partAt, this.#partAt + this.#sliceBytes);
      this.#partAt += slice.length;
      this.#leftBytes -= slice.length;
      this.#hasDecodedLast = this.#leftBytes === 0;
      this.#utf8 = this.#decode(slice, this.#hasDecodedLast);
      this.#utf8At = 0;
    }
  }

  #copy(target: Uint8Array, at: number): number {
    const end = Math.min(this.#utf8.length, this.#utf8At + target.length - at);
    target.set(this.#utf8.subarray(this.#utf8At, end), at);
    const copied = end - this.#utf8At;
    this.#utf8At = end;
    return at + copied;
  }

  /** Escapes what `JSON.stringify` escapes, and nothing else. */
  #escape(target: Uint8Array, from: number): number {
    const source = this.#utf8;
    let next = this.#utf8At;
    let at = from;
    for (; next < source.length; next++) {
      const byte = source[next]!;
      const letter = ESCAPES[byte]!;
      if (letter === 0) {
        if (at === target.length) break;
        target[at++] = byte;
        continue;
      }
      if (at + (letter === LONG_ESCAPE ? 6 : 2) > target.length) break;
      target[at++] = BACKSLASH;
      target[at++] = letter;
      if (letter !== LONG_ESCAPE) continue;
      target[at++] = ZERO;
      target[at++] = ZERO;
      target[at++] = HEX_DIGITS[byte >> 4]!;
      target[at++] = HEX_DIGITS[byte & 15]!;
    }
    this.#utf8At = next;
    return at;
  }
}

/** Gives an event part by part. @typeParam E returned in place of a part once the event no longer exists */
export interface EventParts<E> {
  read(index: number): MaybePromise<EventPart | E>;
}

/** The event that is being written. */
interface Current<E> {
  readonly parts: EventParts<E>;
  readonly body: BodyWriter;
  /** Index of the next part. */
  next: number;
  readonly after: string;
}

/**
 * Text and events, one after another, as pieces of UTF-8. Parts are read on demand, so one reader holds a part, the UTF-8 of a
 * slice, and the piece being written. When {@link EventParts} rejects, so does `next`.
 */
export class JsonPieces<E extends object> {
  readonly #segments: readonly (string | EventParts<E>)[];
  readonly #pieceBytes: number;
  readonly #sliceBytes: number;
  #nextSegment = 0;
  #text = '';
  #textAt = 0;
  #current: Current<E> | undefined;

  /** @param pieceBytes at least 8, so that the longest escape and the longest character fit */
  constructor(
    segments: readonly (string | EventParts<E>)[],
    pieceBytes: number = PIECE_BYTES_MAX,
    sliceBytes: number = SLICE_BYTES,
  ) {
    this.#segments = segments;
    this.#pieceBytes = pieceBytes;
    this.#sliceBytes = sliceBytes;
  }

  /** The next piece; null at the end; E when an event no longer exists, after which no other call may follow. */
  next(): MaybePromise<Uint8Array | null | E> {
    const isShort = this.#current?.body.isSlow ?? false;
    return this.#fill(new Uint8Array(isShort ? Math.min(this.#pieceBytes, SHORT_PIECE_BYTES) : this.#pieceBytes), 0);
  }

  #fill(target: Uint8Array, from: number): MaybePromise<Uint8Array | null | E> {
    let at = from;
    for (;;) {
      at = this.#writeText(target, at);
      if (this.#textAt < this.#text.length) return target.subarray(0, at);
      const current = this.#current;
      if (current !== undefined) {
        at = current.body.write(target, at);
        if (current.body.isDone) {
          this.#current = undefined;
          this.#setText(current.after);
          continue;
        }
        if (!current.body.needsPart) return target.subarray(0, at);
        return this.#goOn(current.parts.read(current.next++), target, at, (part) => {
          current.body.continueWith(part.bytes);
        });
      }
      const segment = this.#segments[this.#nextSegment++];
      if (segment === undefined) return at === 0 ? null : target.subarray(0, at);
      if (typeof segment === 'string') this.#setText(segment);
      else return this.#goOn(segment.read(0), target, at, (part) => this.#begin(segment, part));
    }
  }

  #goOn(
    reading: MaybePromise<EventPart | E>,
    target: Uint8Array,
    at: number,
    accept: (part: EventPart) => void,
  ): MaybePromise<Uint8Array | null | E> {
    return chain(reading, (part) => {
      if (!('bytes' in part)) return part;
      accept(part);
      return this.#fill(target, at);
    });
  }

  #begin(parts: EventParts<E>, first: EventPart): void {
    const quote = first.form.kind === 'text' ? '"' : '';
    this.#setText(first.head + quote);
    const body = new BodyWriter(first, this.#sliceBytes);
    this.#current = { parts, body, next: 1, after: quote + tailOf(first.sizeBytes) };
  }

  #setText(text: string): void {
    this.#text = text;
    this.#textAt = 0;
  }

  #writeText(target: Uint8Array, at: number): number {
    if (this.#textAt === this.#text.length) return at;
    const left = this.#textAt === 0 ? this.#text : this.#text.slice(this.#textAt);
    const { read, written } = encoder.encodeInto(left, target.subarray(at));
    this.#textAt += read;
    return at + written;
  }
}
