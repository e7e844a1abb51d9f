/**
 * Checks SQLite's write-ahead log before SQLite reads it (sqlite.org/fileformat2.html §4). SQLite reads the log up to
 * the first frame with a wrong checksum and silently drops the rest. That is right for a tail that was being written
 * when the power failed, and wrong for a log damaged in its middle: acknowledged commits would be lost.
 *
 * SQLite syncs each commit before the next begins, which tells the two apart: a damaged frame with frames of a later
 * transaction behind it had reached the disk. Cost: one pass over the log.
 */
import { readFileSync } from 'node:fs';
import { errorCodeOf } from '../../base/failure.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** With this magic number the checksums read the log as little-endian words, with the other as big-endian ones. */
const MAGIC_LITTLE_ENDIAN = 0x377f0682;

/** Running checksum of the log; both parts are u32. */
class LogChecksum {
  first = 0;
  second = 0;
  readonly #isLittleEndian: boolean;

  constructor(isLittleEndian: boolean) {
    this.#isLittleEndian = isLittleEndian;
  }

  /** `to - from` is a multiple of 8. */
  add(log: DataView, from: number, to: number): void {
    let { first, second } = this;
    for (let at = from; at < to; at += 8) {
      first = (first + log.getUint32(at, this.#isLittleEndian) + second) | 0;
      second = (second + log.getUint32(at + 4, this.#isLittleEndian) + first) | 0;
    }
    this.first = first >>> 0;
    this.second = second >>> 0;
  }

  isAt(log: DataView, at: number): boolean {
    return log.getUint32(at) === this.first && log.getUint32(at + 4) === this.second;
  }
}

/** Number of whole frames before the first bad one; undefined when the header itself is bad. */
function soundFrames(log: DataView, frameBytes: number, frameCount: number): number | undefined {
  const sum = new LogChecksum(log.getUint32(0) === MAGIC_LITTLE_ENDIAN);
  sum.add(log, 0, 24);
  if (!sum.isAt(log, 24)) return undefined;
  for (let frame = 0; frame < frameCount; frame++) {
    const at = HEADER_BYTES + frame * frameBytes;
    const hasSalts = log.getUint32(at + 8) === log.getUint32(16) && log.getUint32(at + 12) === log.getUint32(20);
    if (!hasSalts) return frame;
    sum.add(log, at, at + 8);
    sum.add(log, at + FRAME_HEADER_BYTES, at + frameBytes);
    if (!sum.isAt(log, at + 16)) return frame;
  }
  return frameCount;
}

/**
 * True when the log holds a bad frame and, behind it, the beginning of a later transaction.
 * @param bytes the log file; a partial frame at its end does not count
 */
export function isDamagedLog(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return false;
  const log = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const pageBytes = log.getUint32(8);
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) {
    return bytes.length > HEADER_BYTES + FRAME_HEADER_BYTES + 65_536;
  }
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const frameCount = Math.floor((bytes.length - HEADER_BYTES) / frameBytes);
  const found = soundFrames(log, frameBytes, frameCount);
  const sound = found ?? 0;
  if (sound === frameCount) return false;
  // Frames left from an earlier round have other salts, and may be all that follows a header: each round starts by writing a
  // header, which is synced before the first frame. If the header is bad, take this round's salts from the first frame.
  const saltsAt = found === undefined ? HEADER_BYTES + 8 : 16;
  const salts = [log.getUint32(saltsAt), log.getUint32(saltsAt + 4)] as const;
  let isPastCommit = false;
  for (let frame = sound; frame < frameCount; frame++) {
    const at = HEADER_BYTES + frame * frameBytes;
    if (frame > sound && (log.getUint32(at + 8) !== salts[0] || log.getUint32(at + 12) !== salts[1])) continue;
    if (isPastCommit) return true;
    isPastCommit = log.getUint32(at + 4) !== 0;
  }
  return false;
}

/** Checks the log beside a database; a missing log is not damaged. */
export function isDamagedLogFile(path: string): boolean {
  try {
    return isDamagedLog(readFileSync(path));
  } catch (failure) {
    if (errorCodeOf(failure) === 'ENOENT') return false;
    throw failure;
  }
}
