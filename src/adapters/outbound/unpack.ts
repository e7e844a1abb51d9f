/**
 * Reads the body of an answer within two bounds: bytes on the wire, beyond which it is cut, and bytes unpacked, beyond which it
 * is refused. Unpacking is streamed and stops at the bound, so a body that unpacks to gigabytes costs no more than one that
 * ends there.
 */
import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { CODINGS_MAX } from '../../outbound/limits.ts';

/** What `Accept-Encoding` asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

export interface BodyBounds {
  readonly wireBytesMax: number;
  readonly unpackedBytesMax: number;
  /** A coding that ends early is an error. */
  readonly isWhole?: boolean;
}

export interface ReadBody {
  readonly bytes: Uint8Array;
  /** More was on the wire than `wireBytesMax`. */
  readonly isTruncated: boolean;
}

/** The unpacked body is longer than its bound. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

type Chunks = AsyncIterable<Uint8Array>;

// A body that was cut ends in the middle of its coding; what came before the cut is unpacked.
const CUT = { finishFlush: constants.Z_SYNC_FLUSH };
const CUT_BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
const WHOLE = {};

/** The lower half of the first byte of a zlib stream (RFC 1950 §2.2); some servers send `deflate` without that frame. */
const hasZlibFrame = (first: Uint8Array): boolean => ((first[0] ?? 0) & 0x0f) === 8;

const DECODERS = {
  gzip: (isWhole: boolean) => createGunzip(isWhole ? WHOLE : CUT),
  'x-gzip': (isWhole: boolean) => createGunzip(isWhole ? WHOLE : CUT),
  deflate: (isWhole: boolean, first: Uint8Array) =>
    (hasZlibFrame(first) ? createInflate : createInflateRaw)(isWhole ? WHOLE : CUT),
  br: (isWhole: boolean) => createBrotliDecompress(isWhole ? WHOLE : CUT_BROTLI),
} as const;

type Coding = keyof typeof DECODERS;

const isCoding = (text: string): text is Coding => Object.hasOwn(DECODERS, text);

/**
 * The codings of a body, the outermost first (RFC 9110 §8.4); undefined when one of them is unknown or they are too many.
 * @param header `content-encoding`, several of them joined
 */
export function codingsOf(header: string): readonly Coding[] | undefined {
  const names = header
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'identity');
  const codings = names.filter(isCoding).reverse();
  return codings.length === names.length && codings.length <= CODINGS_MAX ? codings : undefined;
}

/** Stops at the first chunk that goes beyond the bound, which ends the source. */
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
  const decoder = DECODERS[coding](isWhole, first.value);
  // A failure of either reaches the reader of the decoder.
  pipeline(Readable.from(all()), decoder, () => {});
  yield* decoder;
}

/** @throws BodyTooLarge; passes on the errors of the source and of the decoders */
export async function readBody(
  source: Chunks,
  codings: readonly Coding[],
  { wireBytesMax, unpackedBytesMax, isWhole = false }: BodyBounds,
): Promise<ReadBody> {
  let isTruncated = false;
  let chunks: Chunks = cutAt(source, wireBytesMax, () => {
    isTruncated = true;
  });
  for (const coding of codings) chunks = unpacked(chunks, coding, isWhole);
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  for await (const part of chunks) {
    byteCount += part.length;
    if (byteCount > unpackedBytesMax) throw new BodyTooLarge(`a body over ${unpackedBytesMax} bytes`);
    parts.push(part);
  }
  return { bytes: Buffer.concat(parts, byteCount), isTruncated };
}
