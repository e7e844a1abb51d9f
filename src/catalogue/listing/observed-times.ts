/** Times in order, in which the moments of a period are counted. */
import { firstWhere } from '../../base/first-where.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** When some jobs were first observed and when they closed, ascending; milliseconds. */
export interface ObservedTimes {
  readonly firstObserved: Float64Array;
  readonly closed: Float64Array;
}

/** @param rows ascending */
export function observedTimesOf(
  { activeCount, closedAtByClosedRow, firstObserved }: Snapshot,
  rows: Uint32Array,
): ObservedTimes {
  const first = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) first[i] = firstObserved[rows[i]!]!;
  const closed = rows.subarray(firstWhere(0, rows.length, (place) => rows[place]! >= activeCount));
  return {
    firstObserved: first.sort(),
    closed: Float64Array.from(closed, (row) => closedAtByClosedRow[row - activeCount]!).sort(),
  };
}

/** How many ascending times lie inside a period, both ends included. */
export function countInside(times: Float64Array, { endMs, startMs }: ObservationPeriod): number {
  const first = firstWhere(0, times.length, (place) => times[place]! >= startMs);
  return firstWhere(first, times.length, (place) => times[place]! > endMs) - first;
}
