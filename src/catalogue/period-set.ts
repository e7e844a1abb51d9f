/**
 * The positions of a cohort with an observation inside a period, kept as a set that follows the period: positions lie in
 * the order of their observations, and only those that an end of the period has moved past change sides.
 */
import { BitSet } from '../base/bitset.ts';
import type { ObservationPeriod } from './period.ts';

export class PeriodSet {
  /** Observed inside the period of the last `moveTo`; none before the first. Not to be modified by others. */
  readonly positions: BitSet;
  /** Ascending, and the position of each. */
  readonly #times: Float64Array;
  readonly #order: Uint16Array;
  /** Place of the first time inside the period, and of the first after it. */
  #start = 0;
  #end = 0;

  /** times  the observation of each position, milliseconds; at most 2^16 */
  constructor(times: Float64Array) {
    const count = times.length;
    this.positions = new BitSet(count);
    this.#times = times.slice().sort();
    this.#order = new Uint16Array(count);
    /** By place of the first of equal times: how many of them have been placed. */
    const placed = new Uint16Array(count);
    for (let position = 0; position < count; position++) {
      const first = this.#placeOf(times[position]!, false);
      this.#order[first + placed[first]!] = position;
      placed[first] = placed[first]! + 1;
    }
  }

  /** Makes `positions` those observed inside a period, both ends included. Says whether that moved an end past an observation. */
  moveTo({ startMs, endMs }: ObservationPeriod): boolean {
    if (this.#isPlaceOf(this.#start, startMs, false) && this.#isPlaceOf(this.#end, endMs, true)) return false;
    const start = this.#placeOf(startMs, false);
    const end = this.#placeOf(endMs, true);
    this.#flip(this.#start, start);
    this.#flip(this.#end, end);
    this.#start = start;
    this.#end = end;
    return true;
  }

  #flip(from: number, to: number): void {
    const past = Math.max(from, to);
    for (let place = Math.min(from, to); place < past; place++) this.positions.flip(this.#order[place]!);
  }

  /** The place of the first time that is not before `ms`, or where `past` says so, that is after it. */
  #placeOf(ms: number, past: boolean): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(middle, ms, past)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isPlaceOf(place: number, ms: number, past: boolean): boolean {
    return (
      (place === 0 || this.#isBefore(place - 1, ms, past)) &&
      (place === this.#times.length || !this.#isBefore(place, ms, past))
    );
  }

  /** Whether the time at a place is before `ms`, or at it where `orAt` says so. */
  #isBefore(place: number, ms: number, orAt: boolean): boolean {
    const time = this.#times[place]!;
    return time < ms || (orAt && time === ms);
  }
}
