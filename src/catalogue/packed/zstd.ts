/**
 * Blocks of text in Zstandard frames (RFC 8878) by node:zlib, with the frame's own checksum, so that a damaged block is
 * an error and never another text. Never with a dictionary: Node 22.18 silently ignores that option, so it would write
 * and read incompatible frames.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The best level before the slow ones: 62 MB/s where 19 makes 5 for 3 % less (bench/descriptions.ts compares block sizes). */
const LEVEL = 9;

/**
 * `ZSTD_c_compressionLevel` and `ZSTD_c_checksumFlag` (zstd.h), by number: reading the constants would load node:zlib
 * with this file.
 */
const COMPRESSION_LEVEL = 100;
const CHECKSUM_FLAG = 201;

export const compressed = (bytes: Uint8Array, level = LEVEL): Uint8Array =>
  zstdCompressSync(bytes, { params: { [COMPRESSION_LEVEL]: level, [CHECKSUM_FLAG]: 1 } });

/** One more byte than the frame holds, so that it decompresses into one piece; the runtimes take 64 at least. */
const outputBytesOf = (held: number): number => Math.max(held + 1, 64);

/**
 * Content size of a frame made by `compressed`, from its header (RFC 8878 §3.1.1.1); undefined for any other bytes. The
 * size takes 1, 2, 4 or 8 bytes after the descriptor, and after a window byte unless the frame is a single segment.
 */
function heldBytes(frame: Uint8Array): number | undefined {
  if (frame.length < 14) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (view.getUint32(0, true) !== 0xfd2fb528 || (descriptor & 0x03) !== 0) return undefined;
  const at = isSingleSegment ? 5 : 6;
  switch (descriptor >>> 6) {
    case 0:
      return isSingleSegment ? view.getUint8(at) : undefined;
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return undefined; // above 4 GiB
  }
}

/**
 * @returns undefined when the bytes are no frame, are damaged, cut off or empty, or hold more than `bytesMax`. For a
 * truncated frame Bun and Node 22 return what precedes the cut, so the length is compared with the header's.
 */
export function decompressed(bytes: Uint8Array, bytesMax: number): Buffer | undefined {
  const held = heldBytes(bytes);
  if (held === undefined || held === 0 || held > bytesMax) return undefined;
  try {
    const text = zstdDecompressSync(bytes, { maxOutputLength: bytesMax, chunkSize: outputBytesOf(held) });
    return text.length === held ? text : undefined;
  } catch {
    return undefined;
  }
}
