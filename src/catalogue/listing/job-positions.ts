/**
 * Positions in a list of jobs: the order key of the job that a page ended with (decisions §3), so that the next page starts at
 * the right place after a reload, even if that job was removed; and the job's row, valid as long as the snapshot is the same.
 *
 *   byte 0   last observation, Float64, big-endian
 *        8   SHA-256 of the id's UTF-8
 *       40   the first bytes of the snapshot's content digest
 *       48   row in that snapshot, Uint32, big-endian
 *
 * Cost: in the same snapshot nothing; in another one a binary search over times, and if several jobs share a time, a search
 * that reads some ids from the file. The row needs no check, because a cursor is authenticated (modules/data/cursors.ts).
 */
import { Buffer } from 'node:buffer';
import { sha256Latin1 } from '../../base/digest.ts';
import { firstWhere } from '../../base/first-where.ts';
import { TIME_MS_MAX } from '../../base/iso-time.ts';
import { SNAPSHOT_MARK_BYTES, type Snapshot } from '../snapshot/snapshot.ts';

const TIME_BYTES = 8;
const DIGEST_BYTES = 32;
const MARK_AT = TIME_BYTES + DIGEST_BYTES;
const ROW_AT = MARK_AT + SNAPSHOT_MARK_BYTES;
const POSITION_BYTES = ROW_AT + 4;

export interface JobPosition {
  readonly lastObservedMs: number;
  /** 32 bytes in code units 0..255, which compare as the bytes do. */
  readonly digest: string;
  /** The job's row in the snapshot with this mark, if known. */
  readonly place?: { readonly mark: string; readonly row: number };
}

export function encodeJobPosition({ digest, lastObservedMs, place: { mark, row } }: Required<JobPosition>): Uint8Array {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeDoubleBE(lastObservedMs);
  bytes.write(digest, TIME_BYTES, 'latin1');
  bytes.write(mark, MARK_AT, 'latin1');
  bytes.writeUInt32BE(row, ROW_AT);
  return bytes;
}

/** `undefined` when the bytes are no position. */
export function parseJobPosition(bytes: Uint8Array): JobPosition | undefined {
  if (bytes.length !== POSITION_BYTES) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lastObservedMs = buffer.readDoubleBE();
  if (!isTime(lastObservedMs)) return undefined;
  return {
    lastObservedMs,
    digest: buffer.toString('latin1', TIME_BYTES, MARK_AT),
    place: { mark: buffer.toString('latin1', MARK_AT, ROW_AT), row: buffer.readUInt32BE(ROW_AT) },
  };
}

/** Whether a number can be a time in a snapshot. */
export const isTime = (ms: number): boolean => Number.isSafeInteger(ms) && Math.abs(ms) <= TIME_MS_MAX;

/** The position of a row. @param id UTF-8 of its id */
export const jobPositionOf = (
  { lastObserved, mark }: Snapshot,
  row: number,
  id: Uint8Array,
): Required<JobPosition> => ({ lastObservedMs: lastObserved[row]!, digest: sha256Latin1(id), place: { mark, row } });

/**
 * As `JobPosition.digest`. Does not check whether the file changed. @throws SnapshotChangedError if it notices that it did
 */
export const digestOf = (snapshot: Snapshot, row: number): string => sha256Latin1(snapshot.cold.idBytesOf(row));

/**
 * The first of the rows `start .. end - 1`, all active or all closed, that comes after a position; `end` when none does.
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function firstRowAfter(snapshot: Snapshot, start: number, end: number, position: JobPosition): number {
  const { lastObservedMs, place } = position;
  if (place?.mark === snapshot.mark && place.row >= start && place.row < end) {
    if (snapshot.lastObserved[place.row] === lastObservedMs) return place.row + 1;
  }
  const first = firstRowBefore(snapshot, start, end, lastObservedMs + 1);
  const past = firstRowBefore(snapshot, first, end, lastObservedMs);
  if (first === past) return first;
  const found = firstDigestAfter(snapshot, first, past, position.digest);
  // Checked afterwards, so that a write before or between the reads is noticed.
  snapshot.cold.requireUnchanged();
  return found;
}

/**
 * The first of rows in the order of their digests that comes after a digest. Digests are spread evenly, so every other
 * step interpolates to where the digest should be: some five steps instead of twenty. The other steps bisect, which
 * bounds the search whatever the ids are.
 */
function firstDigestAfter(snapshot: Snapshot, start: number, end: number, digest: string): number {
  const wanted = keyOf(digest);
  let low = start;
  let high = end;
  let lowKey = 0;
  let highKey = KEY_LIMIT;
  for (let step = 0; low < high; step++) {
    const share = step % 2 === 0 && highKey > lowKey ? (wanted - lowKey) / (highKey - lowKey) : 0.5;
    const row = Math.min(low + Math.floor(share * (high - low)), high - 1);
    const own = digestOf(snapshot, row);
    if (own > digest) {
      high = row;
      highKey = keyOf(own);
    } else {
      low = row + 1;
      lowKey = keyOf(own);
    }
  }
  return low;
}

const KEY_LIMIT = 2 ** 32;

/** The first 32 bits of a digest. */
function keyOf(digest: string): number {
  let key = 0;
  for (let i = 0; i < 4; i++) key = key * 256 + digest.charCodeAt(i);
  return key;
}

/** The first of the rows `start .. end - 1` that was last observed before a moment; `end` when none was. */
export function firstRowBefore({ lastObserved }: Snapshot, start: number, end: number, ms: number): number {
  return firstWhere(start, end, (row) => lastObserved[row]! < ms);
}
