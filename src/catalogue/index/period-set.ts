/**
 * The positions of a cohort with an observation inside a period, kept as a set that follows the period: positions lie in
 * the order of their observations, and only those that an end of the period has moved past change sides.
 */
import { BitSet } from '../../base/bitset.ts';
import type { ObservationPeriod } from '../questions/period.ts';

export class PeriodSet {
  /** Observed inside the period of the last `moveTo`; none before the first. Not to be modified by others. */
  readonly positions: BitSet;
  /** Ascending, and the position of each. */
  readonly #times: Float64Array;
  readonly #order: Uint16Array;
  /** Place of the first time inside the period, and of the first after it. */
  #start = 0;
  #end = 0;

  /** times ascending, and the position of each; at most 2^16 */
  constructor(times: Float64Array, order: Uint16Array) {
    this.positions = new BitSet(times.length);
    this.#times = times;
    this.#order = order;
  }

  /** Makes `positions` those observed inside a period, both ends included. Says whether that moved an end past an observation. */
  moveTo({ startMs, endMs }: ObservationPeriod): boolean {
    if (this.#isPlaceOf(this.#start, startMs, false) && this.#isPlaceOf(this.#end, endMs, true)) return false;
    const start = placeIn(this.#times, startMs, false);
    const end = placeIn(this.#times, endMs, true);
    this.#flip(this.#start, start);
    this.#flip(this.#end, end);
    this.#start = start;
    this.#end = end;
    return true;
  }

  /** Members between two places leave, others come in. */
  #flip(from: number, to: number): void {
    const { words } = this.positions;
    const order = this.#order;
    const past = Math.max(from, to);
    for (let place = Math.min(from, to); place < past; place++) {
      const position = order[place]!;
      words[position >>> 5] = words[position >>> 5]! ^ (1 << (position & 31));
    }
  }

  /** Whether `placeIn` would give this place. */
  #isPlaceOf(place: number, ms: number, past: boolean): boolean {
    const times = this.#times;
    return (
      (place === 0 || isBefore(times[place - 1]!, ms, past)) &&
      (place === times.length || !isBefore(times[place]!, ms, past))
    );
  }
}

/** The place of the first of ascending `times` that is not before `ms`, or where `past` says so, that is after it. */
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

/** Whether a time is before `ms`, or at it where `orAt` says so. */
function isBefore(time: number, ms: number, orAt: boolean): boolean {
  return time < ms || (orAt && time === ms);
}
