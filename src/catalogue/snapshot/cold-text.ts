/** Ids and source URLs of a build, row after row (layout.ts, "Cold"). */
import { CHECKED_CHUNK_BYTES } from '../limits.ts';
import type { JobRows } from './job-rows.ts';
import { SnapshotError } from './snapshot-error.ts';

/** Where each id and each URL starts, and where the last one ends. @param order ordinals by row */
export function coldOffsetsOf(rows: JobRows, order: Uint32Array): Uint32Array<ArrayBuffer> {
  const { ids, urlEnds } = rows;
  const offsets = new Uint32Array(order.length * 2 + 1);
  let end = 0;
  for (let row = 0; row < order.length; row++) {
    const ordinal = order[row]!;
    end += ids.endOf(ordinal) - ids.startOf(ordinal);
    offsets[row * 2 + 1] = end;
    end += urlEnds[ordinal]! - rows.urlStart(ordinal);
    if (end > 0xffffffff) throw new SnapshotError('ids and source URLs of the catalogue take more than 4 GiB');
    offsets[row * 2 + 2] = end;
  }
  return offsets;
}

/**
 * Ids and URLs in row order, about a mebibyte at a time, to avoid a second copy of the whole.
 * @param reused whether each chunk may be overwritten when the next is asked for
 */
export function* coldChunks(rows: JobRows, order: Uint32Array, reused: boolean): Generator<Uint8Array> {
  const { ids, urlEnds, urls } = rows;
  let chunk = new Uint8Array(CHECKED_CHUNK_BYTES);
  let filled = 0;
  for (const ordinal of order) {
    const id = ids.bytes.subarray(ids.startOf(ordinal), ids.endOf(ordinal));
    const url = urls.bytes.subarray(rows.urlStart(ordinal), urlEnds[ordinal]!);
    const length = id.length + url.length;
    if (filled + length > chunk.length) {
      yield chunk.subarray(0, filled);
      if (!reused || length > chunk.length) chunk = new Uint8Array(Math.max(CHECKED_CHUNK_BYTES, length));
      filled = 0;
    }
    chunk.set(id, filled);
    chunk.set(url, filled + id.length);
    filled += length;
  }
  yield chunk.subarray(0, filled);
}
