/**
 * The positions of a cohort with an observation inside a period, as a set that follows the period: positions are sorted by
 * time, and a change of the period flips only those between the old and the new place of each end.
 */
import { BitSet } from '../../base/bitset.ts';
import type { ObservationPeriod } from '../questions/period.ts';

export interface TimeOrder {
  /** Ascending, at most 2^16. */
  readonly times: Float64Array;
  /** The position of each. */
  readonly order: Uint16Array;
}

export class PeriodSet {
  /** Positions observed inside the period of the last `setPeriod`; empty before the first. Read only for others. */
  readonly positions: BitSet;
  readonly #times: Float64Array;
  readonly #order: Uint16Array;
  /** Index of the first time inside the period, and of the first after it. */
  #start = 0;
  #end = 0;

  constructor({ order, times }: TimeOrder) {
    this.positions = new BitSet(times.length);
    this.#times = times;
    this.#order = order;
  }

  /**
   * Makes `positions` those observed inside a period, both ends included.
   * @returns whether an end moved past an observation, so that `positions` may have changed
   */
  setPeriod({ startMs, endMs }: ObservationPeriod): boolean {
    if (this.#isPlaceOf(this.#start, startMs, false) && this.#isPlaceOf(this.#end, endMs, true)) return false;
    const start = placeIn(this.#times, startMs, false);
    const end = placeIn(this.#times, endMs, true);
    this.#flip(this.#start, start);
    this.#flip(this.#end, end);
    this.#start = start;
    this.#end = end;
    return true;
  }

  /** Positions between two indexes of the order enter the set when they are outside, and leave it when they are inside. */
  #flip(from: number, to: number): void {
    const { words } = this.positions;
    const order = this.#order;
    const past = Math.max(from, to);
    for (let place = Math.min(from, to); place < past; place++) {
      const position = order[place]!;
      words[position >>> 5] = words[position >>> 5]! ^ (1 << (position & 31));
    }
  }

  /** Whether `placeIn` would return this index. */
  #isPlaceOf(place: number, ms: number, past: boolean): boolean {
    const times = this.#times;
    return (
      (place === 0 || isBefore(times[place - 1]!, ms, past)) &&
      (place === times.length || !isBefore(times[place]!, ms, past))
    );
  }
}

/** Index of the first of ascending `times` at or after `ms`, or with `past` of the first after it. */
export function placeIn(times: Float64Array, ms: number, past: boolean): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(times[middle]!, ms, past)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a time is before `ms`, or with `orAt` before or at it. */
function isBefore(time: number, ms: number, orAt: boolean): boolean {
  return time < ms || (orAt && time === ms);
}
