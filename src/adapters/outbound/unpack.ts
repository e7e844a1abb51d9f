/**
 * Reads the body of an answer within two bounds: bytes on the wire, beyond which it is truncated, and unpacked bytes,
 * beyond which it is refused. Unpacking stops at the bound, so a body that unpacks to gigabytes costs no more than one
 * that ends there.
 */
import type { Transform } from 'node:stream';
import { errorCodeOf } from '../../base/failure.ts';
import { Turns } from '../../base/turns.ts';
import type { Coding } from '../../outbound/codings.ts';
import { nodeStream, nodeZlib } from '../process/late-modules.ts';

/** First buffer for a body without a stated length, bytes. */
const LENGTH_HINT = 16_384;

export interface BodyBounds {
  readonly wireBytesMax: number;
  /** null: the body is left packed. */
  readonly unpackedBytesMax: number | null;
  /** The body comes whole or is of no use: unpacked while it comes, a coding that a cut ends early is an error too. */
  readonly isWhole?: boolean;
  /** Awaited before a part of the unpacked body is kept. */
  onPart?(bytes: number): Promise<void>;
}

export interface ReadBody {
  /** A body left packed owns its buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** More was on the wire than `wireBytesMax`. */
  readonly isTruncated: boolean;
}

/** The unpacked body is longer than its bound. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

const tooLarge = (bytesMax: number): BodyTooLargeError => new BodyTooLargeError(`a body over ${bytesMax} bytes`);

type Chunks = AsyncIterable<Uint8Array>;

// A body that we cut ends in the middle of its coding; the part before the cut is unpacked. A body that ends early by itself was
// lost on its way; if it lasts until its connection ends, nothing else shows that.
const cut = () => ({ finishFlush: nodeZlib().constants.Z_SYNC_FLUSH });
const cutBrotli = () => ({ finishFlush: nodeZlib().constants.BROTLI_OPERATION_FLUSH });

/** The lower half of the first byte of a zlib stream (RFC 1950 §2.2); some servers send `deflate` without that frame. */
const hasZlibFrame = (first: Uint8Array): boolean => ((first[0] ?? 0) & 0x0f) === 8;

function decoderOf(coding: Coding, isWhole: boolean, first: Uint8Array): Transform {
  const { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } = nodeZlib();
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(isWhole ? {} : cut());
    case 'deflate':
      return (hasZlibFrame(first) ? createInflate : createInflateRaw)(isWhole ? {} : cut());
    case 'br':
      return createBrotliDecompress(isWhole ? {} : cutBrotli());
  }
}

/** Chunks are usually 64 KiB, so a turn spends less than a millisecond reading all bodies together. */
const CHUNKS_A_TURN = 4;
const READING = new Turns(CHUNKS_A_TURN);

/**
 * Stops at the first chunk beyond the bound, which ends the source. After each chunk the source waits for its next turn.
 */
async function* cutAt(source: Chunks, bytesMax: number, onCut: () => void): AsyncGenerator<Uint8Array> {
  let left = bytesMax;
  for await (const chunk of source) {
    if (chunk.length > left) {
      onCut();
      if (left > 0) yield chunk.subarray(0, left);
      return;
    }
    left -= chunk.length;
    yield chunk;
    await READING.take('');
  }
}

async function* unpacked(source: Chunks, coding: Coding, isWhole: boolean): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const { pipeline, Readable } = nodeStream();
  const decoder = decoderOf(coding, isWhole, first.value);
  // An error of source or decoder reaches the decoder's reader.
  pipeline(Readable.from(all()), decoder, () => {});
  yield* decoder;
}

/**
 * Copies each part into one buffer as it arrives. Joining a long body at the end would block the event loop, and each
 * retained part would take some 400 extra bytes, although the target chooses how small parts are.
 */
class Gathered {
  #held: Uint8Array<ArrayBuffer>;
  byteCount = 0;

  constructor(capacity: number) {
    this.#held = new Uint8Array(capacity);
  }

  add(part: Uint8Array): void {
    const byteCount = this.byteCount + part.length;
    if (byteCount > this.#held.length) {
      const capacity = Math.max(byteCount, 2 * this.#held.length);
      // `transfer` frees the old buffer at once, not at the next garbage collection.
      this.#held = new Uint8Array(this.#held.buffer.transfer(capacity));
    }
    this.#held.set(part, this.byteCount);
    this.byteCount = byteCount;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#held.subarray(0, this.byteCount);
  }

  /** The bytes without spare capacity; nothing may be added afterwards. */
  takeExact(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#held.buffer.transfer(this.byteCount));
  }
}

async function gather(chunks: Chunks, capacity: number): Promise<Gathered> {
  const gathered = new Gathered(capacity);
  for await (const part of chunks) gathered.add(part);
  return gathered;
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/**
 * @param lengthHint bytes that are expected on the wire
 * @throws BodyTooLargeError; passes on the errors of the source and of the decoders
 */
export async function readBody(
  source: Chunks,
  codings: readonly Coding[],
  bounds: BodyBounds,
  lengthHint = LENGTH_HINT,
): Promise<ReadBody> {
  const { wireBytesMax, unpackedBytesMax, isWhole = false } = bounds;
  let isTruncated = false;
  const wire = cutAt(source, wireBytesMax, () => {
    isTruncated = true;
  });
  const wireCapacity = Math.min(wireBytesMax, lengthHint);
  if (unpackedBytesMax === null) {
    return { bytes: (await gather(wire, wireCapacity)).bytes, isTruncated };
  }
  let chunks: Chunks = wire;
  // A decoder has to know from its start whether its input is cut.
  if (codings.length > 0 && !isWhole) chunks = inOne((await gather(wire, wireCapacity)).bytes);
  for (const coding of codings) chunks = unpacked(chunks, coding, isWhole || !isTruncated);
  const gathered = new Gathered(Math.min(unpackedBytesMax, lengthHint));
  for await (const part of chunks) {
    if (gathered.byteCount + part.length > unpackedBytesMax) throw tooLarge(unpackedBytesMax);
    await bounds.onPart?.(part.length);
    gathered.add(part);
  }
  return { bytes: gathered.takeExact(), isTruncated };
}

function unpackedAtOnce(bytes: Uint8Array, coding: Coding, isWhole: boolean, maxOutputLength: number): Uint8Array {
  const { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } = nodeZlib();
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, { ...(isWhole ? {} : cut()), maxOutputLength });
    case 'deflate':
      return (hasZlibFrame(bytes) ? inflateSync : inflateRawSync)(bytes, {
        ...(isWhole ? {} : cut()),
        maxOutputLength,
      });
    case 'br':
      return brotliDecompressSync(bytes, { ...(isWhole ? {} : cutBrotli()), maxOutputLength });
  }
}

/**
 * Unpacks a packed body synchronously, for a thread that may block; of a body that we cut, the part before the cut.
 * @param bytesMax of each coding's output
 * @throws BodyTooLargeError; passes on the errors of the decoders
 */
export function unpackAtOnce(
  packed: Uint8Array,
  codings: readonly Coding[],
  { bytesMax, isWhole }: { readonly bytesMax: number; readonly isWhole: boolean },
): Uint8Array {
  let bytes = packed;
  for (const coding of codings) {
    if (bytes.length === 0) break;
    try {
      bytes = unpackedAtOnce(bytes, coding, isWhole, bytesMax);
    } catch (failure) {
      throw errorCodeOf(failure) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(bytesMax) : failure;
    }
  }
  return bytes;
}
