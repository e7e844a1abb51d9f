/** A snapshot's observations by time: jobs, active and closed, by the UTC day of their last observation. */
import { DAY_MS } from '../../base/durations.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

export interface ObservationDays {
  /** Midnight UTC of the first day, milliseconds since the epoch. */
  readonly firstDayMs: number;
  /** Jobs last observed on each day, oldest day first; the last one is the day of the newest observation. */
  readonly counts: Uint32Array;
}

/** The `dayCount` days up to the newest observation, or undefined for a snapshot without jobs. One pass over one column. */
export function observationDays(snapshot: Snapshot, dayCount: number): ObservationDays | undefined {
  if (snapshot.newestObservedMs === null) return undefined;
  const lastDay = Math.floor(snapshot.newestObservedMs / DAY_MS);
  const firstDay = lastDay - dayCount + 1;
  const counts = new Uint32Array(dayCount);
  const { lastObserved, rowCount } = snapshot;
  for (let row = 0; row < rowCount; row++) {
    const day = Math.floor(lastObserved[row]! / DAY_MS) - firstDay; // row < rowCount
    if (day >= 0) counts[day]!++;
  }
  return { firstDayMs: firstDay * DAY_MS, counts };
}
