/**
 * Companies of the catalogue's cohort in order of hiring activity (decisions §3, "Signals"). A company is a run of
 * positions (company-runs.ts), so its matching, recently observed and first observed jobs are bits of three sets,
 * counted a word at a time. The largest companies come first, and the counting stops at the first company with too few
 * rows to be among the best.
 *
 * Without filters the answer changes only when an end of the period moves past an observation, so the last one is memoized.
 */
import { BitSet, bitCountOf } from '../../base/bitset.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import { scoreHundredths } from '../questions/score.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { CompanyRuns } from './company-runs.ts';
import type { Matches } from './matches.ts';
import { PeriodSet, placeIn, type TimeOrder } from './period-set.ts';

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
  /** Newest last observation of the matching jobs, milliseconds. */
  readonly lastObservedMs: number;
}

export interface Ranking {
  /** At most `limit`, in order. */
  readonly companies: readonly RankedCompany[];
  readonly matchingJobs: number;
}

/** A company with at least one matching job, and its counts. */
interface Counted {
  /** Index in the companies of the runs. */
  readonly place: number;
  /** Its matching jobs, how many of them are recent, and the position of the newest. */
  readonly observed: number;
  readonly recent: number;
  readonly newest: number;
}

/** What a ranking is made of besides the runs, as plain data. */
export interface RankingData {
  /** By position: the index of its company in the runs. */
  readonly placeOf: Uint16Array;
  /** The positions in order of their last and of their first observation. */
  readonly lastObserved: TimeOrder;
  readonly firstObserved: TimeOrder;
}

export function rankingDataOf({ firstObserved, lastObserved }: Snapshot, runs: CompanyRuns): RankingData {
  const count = runs.rows.length;
  const placeOf = new Uint16Array(count);
  for (let place = 0; place < runs.companies.length; place++) {
    placeOf.fill(place, runs.offsets[place]!, runs.offsets[place + 1]!);
  }
  return {
    placeOf,
    // Rows are newest last observation first.
    lastObserved: { times: lastObserved.slice(0, count).reverse(), order: runs.positionOf.slice().reverse() },
    firstObserved: inOrderOfTime(firstObserved.subarray(0, count), runs.positionOf),
  };
}

export class CompanyRanking {
  readonly #snapshot: Snapshot;
  readonly #runs: CompanyRuns;
  readonly #placeOf: Uint16Array;
  readonly #all: BitSet;
  /** Positions last observed inside the current period, and those first observed inside it. */
  readonly #recent: PeriodSet;
  readonly #firstObserved: PeriodSet;
  /** The last ranking without filters, valid for the current period. */
  #unfiltered: { readonly limit: number; readonly ranking: Ranking } | undefined;
  /** By index in the runs: a company's name and domain, once an answer showed them. */
  readonly #shown: ({ readonly name: string; readonly domain: string | null } | undefined)[];

  /** Rises when a change of the period makes an observation enter or leave it. */
  #periodVersion = 0;

  constructor(snapshot: Snapshot, runs: CompanyRuns, { firstObserved, lastObserved, placeOf }: RankingData) {
    this.#snapshot = snapshot;
    this.#runs = runs;
    this.#placeOf = placeOf;
    // Allocated at full length: V8 turns an array that is filled sparsely into a hash table.
    this.#shown = new Array<undefined>(runs.companies.length).fill(undefined);
    this.#all = new BitSet(runs.rows.length);
    this.#all.fill();
    this.#recent = new PeriodSet(lastObserved);
    this.#firstObserved = new PeriodSet(firstObserved);
  }

  /**
   * The best `limit` companies among those with a job in `matches`, or among all when it is undefined.
   * @returns a ranking that may be memoized: read only
   */
  rank(matches: Matches | undefined, period: ObservationPeriod, limit: number): Ranking {
    if (matches?.listedCount === 0) return { companies: [], matchingJobs: 0 };
    this.setPeriod(period);
    if (matches !== undefined) return this.#ranked(matches.toSet(), matches.count, limit);
    if (this.#unfiltered?.limit !== limit) {
      this.#unfiltered = { limit, ranking: this.#ranked(this.#all, this.#all.length, limit) };
    }
    return this.#unfiltered.ranking;
  }

  /**
   * Sets the period of the next ranking.
   * @returns the period's version: it changes when an observation enters or leaves the period, and while it stays the same,
   * so do the rankings of the same matches
   */
  setPeriod(period: ObservationPeriod): number {
    const recentMoved = this.#recent.setPeriod(period);
    if (this.#firstObserved.setPeriod(period) || recentMoved) {
      this.#unfiltered = undefined;
      this.#periodVersion++;
    }
    return this.#periodVersion;
  }

  #ranked(matching: BitSet, matchingJobs: number, limit: number): Ranking {
    const best = this.#best(matching, limit);
    return { companies: best.map((company) => this.#described(company, matching)), matchingJobs };
  }

  #best(matching: BitSet, limit: number): Counted[] {
    const placeOf = this.#placeOf;
    const { offsets } = this.#runs;
    const words = matching.words;
    const recentWords = this.#recent.positions.words;
    const best: Counted[] = [];
    /** Recent jobs of the last company in `best` once it is full: a company with fewer rows cannot get in. */
    let enough = 0;
    let w = 0;
    /** The bits of the word at `w` that are not counted yet. */
    let word = words.length === 0 ? 0 : words[0]!;
    while (true) {
      while (word === 0) {
        if (++w >= words.length) return best;
        word = words[w]!;
      }
      const newest = (w << 5) + 31 - Math.clz32(word & -word);
      const place = placeOf[newest]!;
      const past = offsets[place + 1]!;
      // This company and all after it have at most this many rows.
      if (past - offsets[place]! < enough) return best;
      let observed = 0;
      let recent = 0;
      for (const lastWord = past >>> 5; w < lastWord; word = ++w < words.length ? words[w]! : 0) {
        observed += bitCountOf(word);
        recent += bitCountOf(word & recentWords[w]!);
      }
      const inside = word & ((1 << (past & 31)) - 1);
      if (inside !== 0) {
        observed += bitCountOf(inside);
        recent += bitCountOf(inside & recentWords[w]!);
        word ^= inside;
      }
      if (recent < enough) continue;
      let at = best.length;
      while (at > 0 && this.#comesBefore(place, observed, recent, newest, best[at - 1]!)) at--;
      if (at === limit) continue;
      if (best.length === limit) best.pop();
      best.splice(at, 0, { place, observed, recent, newest });
      if (best.length === limit) enough = best[limit - 1]!.recent;
    }
  }

  /** Whether a company, given by the fields of `Counted`, comes before another. Most do not, so they get no object. */
  #comesBefore(place: number, observed: number, recent: number, newest: number, other: Counted): boolean {
    if (recent !== other.recent) return recent > other.recent;
    const score = scoreHundredths(recent, observed);
    const otherScore = scoreHundredths(other.recent, other.observed);
    if (score !== otherScore) return score > otherScore;
    const last = this.#lastObservedAt(newest);
    const otherLast = this.#lastObservedAt(other.newest);
    if (last !== otherLast) return last > otherLast;
    // Codes are in order of domain or compared name.
    return this.#runs.companies[place]! < this.#runs.companies[other.place]!;
  }

  #lastObservedAt(position: number): number {
    return this.#snapshot.lastObserved[this.#runs.rows[position]!]!;
  }

  #described({ newest, observed, place, recent }: Counted, matching: BitSet): RankedCompany {
    const { companies, offsets } = this.#runs;
    let shown = this.#shown[place];
    if (shown === undefined) {
      const code = companies[place]!;
      shown = { name: this.#snapshot.shownNameOf(code), domain: this.#snapshot.domainOf(code) };
      this.#shown[place] = shown;
    }
    return {
      name: shown.name,
      domain: shown.domain,
      observed,
      recent,
      firstObserved: matching.countOfBoth(this.#firstObserved.positions, offsets[place]!, offsets[place + 1]!),
      scoreHundredths: scoreHundredths(recent, observed),
      lastObservedMs: this.#lastObservedAt(newest),
    };
  }
}

/** @param times by row @param positionOf by row */
function inOrderOfTime(times: Float64Array, positionOf: Uint16Array): TimeOrder {
  const sorted = times.slice().sort();
  const order = new Uint16Array(times.length);
  /** By index of the first of equal times: how many of them are placed. */
  const placed = new Uint16Array(times.length);
  for (let row = 0; row < times.length; row++) {
    const first = placeIn(sorted, times[row]!, false);
    order[first + placed[first]!] = positionOf[row]!;
    placed[first] = placed[first]! + 1;
  }
  return { times: sorted, order };
}
