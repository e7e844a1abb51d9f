/**
 * Companies of the catalogue's cohort in order of hiring activity (decisions §3, "Signals"). Rows are newest first, so
 * the recently observed ones are one run, found by two binary searches; the rest is counting into arrays, and only the
 * wanted few companies are looked at more closely.
 *
 * Without filters the answer changes only when one of the period's ends moves past an observation, that is, when one
 * of four places in the two orders of observation changes. The last such answer is kept with its places.
 *
 * Measured as in term-index.ts: without filters 37 / 39 µs where half of the cohort is recent, 1 to 2 µs when kept.
 */
import type { BitSet } from '../base/bitset.ts';
import type { Cohort } from './cohort.ts';
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

export class CompanyRanking {
  readonly #cohort: Cohort;
  /** Companies with a row in the cohort: their codes, ascending, which is ascending by domain or compared name. */
  readonly #codes: Uint32Array;
  /** Place of each row's company in `#codes`; here a position is a row. */
  readonly #groups: Uint16Array;
  /** First observations of the cohort, ascending. */
  readonly #firstObserved: Float64Array;
  // One element a company of `#codes`: without filters, its rows and its newest row.
  readonly #observed: Uint16Array;
  readonly #newest: Uint16Array;
  // The same, the recent and the first observed rows for the question at hand; all zero between questions, except the newest row.
  readonly #matchObserved: Uint16Array;
  readonly #matchNewest: Uint16Array;
  readonly #recent: Uint16Array;
  readonly #first: Uint16Array;
  /** Scratch: matching rows; companies that have one; the best companies in order. */
  readonly #rows: Uint16Array;
  readonly #touched: Uint16Array;
  #kept: KeptRanking | undefined;

  /** cohort  the first rows of the snapshot, so that a position is a row */
  constructor(cohort: Cohort) {
    const { snapshot } = cohort;
    const count = cohort.rows.length;
    const companyOfRow = Uint32Array.from(cohort.rows, (row) => snapshot.employerCompany[snapshot.employer[row]!]!);
    this.#cohort = cohort;
    this.#codes = Uint32Array.from(new Set(companyOfRow)).sort();
    const groupOf = new Map(Array.from(this.#codes, (code, group) => [code, group]));
    this.#groups = Uint16Array.from(companyOfRow, (code) => groupOf.get(code)!);
    this.#firstObserved = snapshot.firstObserved.slice(0, count).sort();
    const groupCount = this.#codes.length;
    this.#observed = new Uint16Array(groupCount);
    this.#newest = new Uint16Array(groupCount);
    for (let row = count - 1; row >= 0; row--) {
      const group = this.#groups[row]!;
      this.#observed[group] = this.#observed[group]! + 1;
      this.#newest[group] = row;
    }
    this.#matchObserved = new Uint16Array(groupCount);
    this.#matchNewest = new Uint16Array(groupCount);
    this.#recent = new Uint16Array(groupCount);
    this.#first = new Uint16Array(groupCount);
    this.#rows = new Uint16Array(count);
    this.#touched = new Uint16Array(groupCount);
  }

  /**
   * The best `limit` companies among the rows of `matching`, or among all where that is not given.
   * The answer may be one that is kept, and is not to be modified.
   */
  rank(matching: BitSet | undefined, period: ObservationPeriod, limit: number): Ranking {
    const lastObserved = this.#cohort.snapshot.lastObserved;
    // Newest first: what was observed after the period comes before `start`, what was before it from `end` on.
    const count = this.#rows.length;
    const start = firstPlace(count, (row) => lastObserved[row]! <= period.endMs);
    const end = firstPlace(count, (row) => lastObserved[row]! < period.startMs);
    return matching === undefined
      ? this.#rankAll(start, end, period, limit)
      : this.#rankMatching(matching, start, end, period, limit);
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
    const recent = this.#recent;
    const count = this.#rows.length;
    if (end - start <= count / 2) {
      this.#count(start, end, 1);
    } else {
      // Most rows are recent: what is left of all rows without those that are not takes fewer steps.
      recent.set(this.#observed);
      this.#count(0, start, -1);
      this.#count(end, count, -1);
    }
    const best = this.#best(undefined, this.#codes.length, this.#observed, this.#newest, limit);
    const ranking = {
      companies: best.map((group) =>
        this.#described(group, this.#observed, this.#newest, this.#firstObservedOf(group, period)),
      ),
      matchingJobs: count,
    };
    recent.fill(0);
    this.#kept = { places, limit, ranking };
    return ranking;
  }

  /** Adds `step` to the recent rows of each company for each of its rows from `start` to `end - 1`. */
  #count(start: number, end: number, step: 1 | -1): void {
    const recent = this.#recent;
    const groups = this.#groups;
    for (let row = start; row < end; row++) {
      const group = groups[row]!;
      recent[group] = recent[group]! + step;
    }
  }

  #rankMatching(matching: BitSet, start: number, end: number, period: ObservationPeriod, limit: number): Ranking {
    const rows = this.#rows;
    const groups = this.#groups;
    const observed = this.#matchObserved;
    const newest = this.#matchNewest;
    const recent = this.#recent;
    const first = this.#first;
    const touched = this.#touched;
    const { firstObserved } = this.#cohort.snapshot;
    const { startMs, endMs } = period;
    const matchingJobs = matching.readInto(rows);
    let touchedCount = 0;
    for (let i = 0; i < matchingJobs; i++) {
      const row = rows[i]!;
      const group = groups[row]!;
      if (observed[group] === 0) {
        touched[touchedCount++] = group;
        newest[group] = row;
      }
      observed[group] = observed[group]! + 1;
      if (row >= start && row < end) recent[group] = recent[group]! + 1;
      const firstMs = firstObserved[row]!;
      if (firstMs >= startMs && firstMs <= endMs) first[group] = first[group]! + 1;
    }
    const best = this.#best(touched, touchedCount, observed, newest, limit);
    const companies = best.map((group) => this.#described(group, observed, newest, first[group]!));
    for (let i = 0; i < touchedCount; i++) {
      observed[touched[i]!] = 0;
      recent[touched[i]!] = 0;
      first[touched[i]!] = 0;
    }
    return { companies, matchingJobs };
  }

  /** The first `limit` of `groups`, or of all companies where that is not given, in order. */
  #best(
    groups: Uint16Array | undefined,
    count: number,
    observed: Uint16Array,
    newest: Uint16Array,
    limit: number,
  ): number[] {
    const recent = this.#recent;
    const best: number[] = [];
    let worstRecent = -1;
    for (let i = 0; i < count; i++) {
      const group = groups === undefined ? i : groups[i]!;
      // Nearly every company ends here.
      if (best.length === limit && recent[group]! < worstRecent) continue;
      let place = best.length;
      while (place > 0 && this.#comesBefore(group, best[place - 1]!, observed, newest)) place--;
      if (place === limit) continue;
      if (best.length === limit) best.pop();
      best.splice(place, 0, group);
      worstRecent = recent[best[best.length - 1]!]!;
    }
    return best;
  }

  #comesBefore(left: number, right: number, observed: Uint16Array, newest: Uint16Array): boolean {
    const recent = this.#recent;
    if (recent[left] !== recent[right]) return recent[left]! > recent[right]!;
    const leftScore = scoreHundredths(recent[left]!, observed[left]!);
    const rightScore = scoreHundredths(recent[right]!, observed[right]!);
    if (leftScore !== rightScore) return leftScore > rightScore;
    const lastObserved = this.#cohort.snapshot.lastObserved;
    const leftLast = lastObserved[newest[left]!]!;
    const rightLast = lastObserved[newest[right]!]!;
    return leftLast !== rightLast ? leftLast > rightLast : left < right;
  }

  /** Rows of a company in the cohort that were first observed inside the period. */
  #firstObservedOf(group: number, period: ObservationPeriod): number {
    const { companyOffsets, companyRows, firstObserved } = this.#cohort.snapshot;
    const rowCount = this.#rows.length;
    const end = companyOffsets[this.#codes[group]! + 1]!;
    let count = 0;
    for (let i = companyOffsets[this.#codes[group]!]!; i < end && companyRows[i]! < rowCount; i++) {
      const first = firstObserved[companyRows[i]!]!;
      if (first >= period.startMs && first <= period.endMs) count++;
    }
    return count;
  }

  #described(group: number, observed: Uint16Array, newest: Uint16Array, firstObserved: number): RankedCompany {
    const { snapshot } = this.#cohort;
    const code = this.#codes[group]!;
    return {
      name: snapshot.shownNameOf(code),
      domain: snapshot.domainOf(code),
      observed: observed[group]!,
      recent: this.#recent[group]!,
      firstObserved,
      scoreHundredths: scoreHundredths(this.#recent[group]!, observed[group]!),
      lastObservedMs: snapshot.lastObserved[newest[group]!]!,
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
