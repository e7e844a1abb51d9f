/**
 * The order of rows (decisions §3): newest last observation first, ties by the SHA-256 of the id's UTF-8, ascending, then by id.
 * A whole board observed in one go would otherwise put its first letters in front.
 *
 * Cost: 0.5 µs for each hash on both runtimes; the first six bytes decide nearly every tie, and only the others are hashed again.
 */
import { sha256Latin1 } from '../../base/digest.ts';
import type { TextTable } from './text-table.ts';

/** A comparator of ordinals. @param times last observations by ordinal @param ids by ordinal */
export function rowComparator(times: Float64Array, ids: TextTable): (a: number, b: number) => number {
  const digestOf = (ordinal: number): string =>
    sha256Latin1(ids.bytes.subarray(ids.startOf(ordinal), ids.endOf(ordinal)));
  /** By ordinal: the first 48 bits of the digest. */
  const keys = new Float64Array(ids.size);
  for (let ordinal = 0; ordinal < keys.length; ordinal++) {
    const digest = digestOf(ordinal);
    let key = 0;
    for (let i = 0; i < 6; i++) key = key * 256 + digest.charCodeAt(i);
    keys[ordinal] = key;
  }
  return (a, b) =>
    times[b]! - times[a]! || keys[a]! - keys[b]! || compareWhole(digestOf(a), digestOf(b)) || ids.compare(a, b);
}

function compareWhole(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
