/**
 * Companies of the catalogue's cohort in order of hiring activity (decisions §3, "Signals"). Rows are newest first, so
 * the recently observed ones are one run, found by two binary searches. Few matching rows are counted one by one; many are
 * counted company by company, the largest first, until no company left has as many rows as the last of the best has
 * recent ones. Only the wanted few companies are looked at more closely.
 *
 * Without filters the answer changes only when one of the period's ends moves past an observation, that is, when one
 * of four places in the two orders of observation changes. The last such answer is kept with its places.
 */
import type { BitSet } from '../base/bitset.ts';
import type { Cohort } from './cohort.ts';
import { COHORT_ROWS_MAX } from './limits.ts';
import type { ObservationPeriod } from './period.ts';
import { scoreHundredths } from './score.ts';

export interface RankedCompany {
  readonly name: string;
  readonly domain: string | null;
  /** Matching jobs of the company in the cohort. */
  readonly observed: number;
  /** Of those: last observed inside the period. */
  readonly recent: number;
  /** Of those: first observed inside the period. */
  readonly firstObserved: number;
  /** 0 .. 10000. */
  readonly scoreHundredths: number;
  /** Newest last observation of those, milliseconds. */
  readonly lastObservedMs: number;
}

export interface Ranking {
  /** At most as many as were wanted, in order. */
  readonly companies: readonly RankedCompany[];
  readonly matchingJobs: number;
}

interface KeptRanking {
  readonly places: readonly number[];
  readonly limit: number;
  readonly ranking: Ranking;
}

/** More matching rows than this are counted company by company. */
const COUNTED_ROWS_MAX = 1_000;

export class CompanyRanking {
  readonly #cohort: Cohort;
  /** Companies with a row in the cohort: their codes, ascending, which is ascending by domain or compared name. */
  readonly #codes: Uint32Array;
  /** Place of each row's company in `#codes`; here a position is a row. */
  readonly #groups: Uint16Array;
  /** First observations of the cohort, ascending. */
  readonly #firstObserved: Float64Array;
  /** Rows of company after company in the order of `#codes`, ascending in each, and where each company's start. */
  readonly #rowsOf: Uint16Array;
  readonly #offsets: Uint32Array;
  /** Places in `#codes`, companies with the most rows first. */
  readonly #bySize: Uint16Array;
  // One element a company of `#codes`, for the question at hand: matching rows, of those the recent ones, and the newest row.
  // All zero between questions, except the newest row.
  readonly #observed: Uint16Array;
  readonly #recent: Uint16Array;
  readonly #newest: Uint16Array;
  /** Scratch: the first matching rows; companies that have one. */
  readonly #rows: Uint16Array;
  readonly #touched: Uint16Array;
  #kept: KeptRanking | undefined;

  /** cohort  the first rows of the snapshot, so that a position is a row */
  constructor(cohort: Cohort) {
    const { snapshot } = cohort;
    const count = cohort.rows.length;
    this.#cohort = cohort;
    this.#firstObserved = snapshot.firstObserved.slice(0, count).sort();
    // Numbers that hold what to sort by and what of are sorted natively: 8 ms for all of this, where Map, Set and a comparator
    // took 22 in a fresh process (Bun; 14 on Node).
    const byCompany = new Float64Array(count);
    for (let row = 0; row < count; row++) {
      byCompany[row] = snapshot.employerCompany[snapshot.employer[row]!]! * COHORT_ROWS_MAX + row;
    }
    byCompany.sort();
    const codes = new Uint32Array(count);
    const starts = new Uint32Array(count + 1);
    this.#groups = new Uint16Array(count);
    this.#rowsOf = new Uint16Array(count);
    let groupCount = 0;
    for (let place = 0; place < count; place++) {
      const row = byCompany[place]! % COHORT_ROWS_MAX;
      const code = (byCompany[place]! - row) / COHORT_ROWS_MAX;
      if (groupCount === 0 || code !== codes[groupCount - 1]) {
        codes[groupCount] = code;
        starts[groupCount++] = place;
      }
      this.#groups[row] = groupCount - 1;
      this.#rowsOf[place] = row;
    }
    starts[groupCount] = count;
    this.#codes = codes.slice(0, groupCount);
    this.#offsets = starts.slice(0, groupCount + 1);
    const bySize = new Float64Array(groupCount);
    for (let group = 0; group < groupCount; group++) {
      const size = starts[group + 1]! - starts[group]!;
      bySize[group] = (COHORT_ROWS_MAX - size) * COHORT_ROWS_MAX + group;
    }
    this.#bySize = Uint16Array.from(bySize.sort(), (sizeAndGroup) => sizeAndGroup % COHORT_ROWS_MAX);
    this.#observed = new Uint16Array(groupCount);
    this.#recent = new Uint16Array(groupCount);
    this.#newest = new Uint16Array(groupCount);
    this.#rows = new Uint16Array(COUNTED_ROWS_MAX + 1);
    this.#touched = new Uint16Array(groupCount);
  }

  /**
   * The best `limit` companies among the rows of `matching`, or among all where that is not given.
   * The answer may be one that is kept, and is not to be modified.
   */
  rank(matching: BitSet | undefined, period: ObservationPeriod, limit: number): Ranking {
    const lastObserved = this.#cohort.snapshot.lastObserved;
    // Newest first: what was observed after the period comes before `start`, what was before it from `end` on.
    const count = this.#groups.length;
    const start = firstPlace(count, (row) => lastObserved[row]! <= period.endMs);
    const end = firstPlace(count, (row) => lastObserved[row]! < period.startMs);
    return matching === undefined
      ? this.#rankAll(start, end, period, limit)
      : this.#ranked(matching, start, end, period, limit);
  }

  #rankAll(start: number, end: number, period: ObservationPeriod, limit: number): Ranking {
    const first = this.#firstObserved;
    const places = [
      start,
      end,
      firstPlace(first.length, (place) => first[place]! >= period.startMs),
      firstPlace(first.length, (place) => first[place]! > period.endMs),
    ];
    const kept = this.#kept;
    if (kept !== undefined && kept.limit === limit && kept.places.every((place, i) => place === places[i])) {
      return kept.ranking;
    }
    const ranking = this.#ranked(undefined, start, end, period, limit);
    this.#kept = { places, limit, ranking };
    return ranking;
  }

  #ranked(matching: BitSet | undefined, start: number, end: number, period: ObservationPeriod, limit: number): Ranking {
    const best: number[] = [];
    // Room for one more than is counted row by row, so that what comes back says which way it is.
    const few = matching?.readInto(this.#rows) ?? COUNTED_ROWS_MAX + 1;
    const isFew = few <= COUNTED_ROWS_MAX;
    const matchingJobs = isFew ? few : (matching?.count ?? this.#groups.length);
    const touchedCount = isFew
      ? this.#rankByRow(few, start, end, limit, best)
      : this.#rankByCompany(matching, start, end, limit, best);
    const companies = best.map((group) => this.#described(group, this.#firstObservedOf(group, matching, period)));
    for (let i = 0; i < touchedCount; i++) {
      const group = this.#touched[i]!;
      this.#observed[group] = 0;
      this.#recent[group] = 0;
    }
    return { companies, matchingJobs };
  }

  /** Counts the first `count` of `#rows`. Fills `best`; returns how many companies were touched. */
  #rankByRow(count: number, start: number, end: number, limit: number, best: number[]): number {
    const rows = this.#rows;
    const groups = this.#groups;
    const observed = this.#observed;
    const newest = this.#newest;
    const recent = this.#recent;
    const touched = this.#touched;
    let touchedCount = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      const group = groups[row]!;
      if (observed[group] === 0) {
        touched[touchedCount++] = group;
        newest[group] = row;
      }
      observed[group] = observed[group]! + 1;
      if (row >= start && row < end) recent[group] = recent[group]! + 1;
    }
    for (let i = 0; i < touchedCount; i++) this.#offer(touched[i]!, limit, best);
    return touchedCount;
  }

  /** Counts the companies that can still be among the best. Fills `best`; returns how many were touched. */
  #rankByCompany(matching: BitSet | undefined, start: number, end: number, limit: number, best: number[]): number {
    const rowsOf = this.#rowsOf;
    const offsets = this.#offsets;
    let touchedCount = 0;
    for (const group of this.#bySize) {
      const first = offsets[group]!;
      const past = offsets[group + 1]!;
      const worstRecent = best.length === limit ? this.#recent[best[limit - 1]!]! : 0;
      // No company from here on has more rows than this one.
      if (past - first < worstRecent) break;
      let observed = 0;
      let recent = 0;
      let newest = 0;
      // From the oldest, so that what stays is the newest.
      for (let i = past - 1; i >= first; i--) {
        const row = rowsOf[i]!;
        if (matching !== undefined && !matching.has(row)) continue;
        observed++;
        newest = row;
        if (row >= start && row < end) recent++;
      }
      if (observed === 0) continue;
      this.#observed[group] = observed;
      this.#recent[group] = recent;
      this.#newest[group] = newest;
      this.#touched[touchedCount++] = group;
      this.#offer(group, limit, best);
    }
    return touchedCount;
  }

  /** Puts a company that was counted at its place among the best, if it has one. */
  #offer(group: number, limit: number, best: number[]): void {
    let place = best.length;
    // Nearly every company ends here.
    if (place === limit && this.#recent[group]! < this.#recent[best[limit - 1]!]!) return;
    while (place > 0 && this.#comesBefore(group, best[place - 1]!)) place--;
    if (place === limit) return;
    if (best.length === limit) best.pop();
    best.splice(place, 0, group);
  }

  #comesBefore(left: number, right: number): boolean {
    const recent = this.#recent;
    if (recent[left] !== recent[right]) return recent[left]! > recent[right]!;
    const leftScore = scoreHundredths(recent[left]!, this.#observed[left]!);
    const rightScore = scoreHundredths(recent[right]!, this.#observed[right]!);
    if (leftScore !== rightScore) return leftScore > rightScore;
    const lastObserved = this.#cohort.snapshot.lastObserved;
    const leftLast = lastObserved[this.#newest[left]!]!;
    const rightLast = lastObserved[this.#newest[right]!]!;
    return leftLast !== rightLast ? leftLast > rightLast : left < right;
  }

  /** Matching rows of a company that were first observed inside the period. */
  #firstObservedOf(group: number, matching: BitSet | undefined, { startMs, endMs }: ObservationPeriod): number {
    const { firstObserved } = this.#cohort.snapshot;
    let count = 0;
    for (let i = this.#offsets[group]!; i < this.#offsets[group + 1]!; i++) {
      const row = this.#rowsOf[i]!;
      if (matching !== undefined && !matching.has(row)) continue;
      const firstMs = firstObserved[row]!;
      if (firstMs >= startMs && firstMs <= endMs) count++;
    }
    return count;
  }

  #described(group: number, firstObserved: number): RankedCompany {
    const { snapshot } = this.#cohort;
    const code = this.#codes[group]!;
    const observed = this.#observed[group]!;
    const recent = this.#recent[group]!;
    return {
      name: snapshot.shownNameOf(code),
      domain: snapshot.domainOf(code),
      observed,
      recent,
      firstObserved,
      scoreHundredths: scoreHundredths(recent, observed),
      lastObservedMs: snapshot.lastObserved[this.#newest[group]!]!,
    };
  }
}

/** The first of 0 .. count - 1 for which `holds` does, once it holds for all that follow; `count` when for none. */
function firstPlace(count: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
