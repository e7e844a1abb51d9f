/**
 * A snapshot with everything that answers questions about it: the catalogue's cohort with its indexes, and a cache of large
 * company cohorts. All of it can be computed again from the columns. The index over all jobs is part of the snapshot.
 */
import { LRUCache } from 'lru-cache';
import { resultOf, type Steps } from '../base/steps.ts';
import { Cohort } from './cohort.ts';
import type { CompanyDomain } from './company-domain.ts';
import { type CohortGroups, cohortGroupsOf } from './index/cohort-groups.ts';
import { CohortPart, type PartIndexes } from './index/cohort-part.ts';
import { type CompanyRuns, companyRunsOf } from './index/company-runs.ts';
import { CompanyRanking, type RankingData, rankingDataOf } from './index/ranking.ts';
import { CACHED_COHORT_ROWS_MAX, CACHED_COHORT_ROWS_MIN, COHORT_ROWS_MAX } from './limits.ts';
import { ListingIndexes } from './listing/listing-indexes.ts';
import { FoundJobs } from './questions/found-jobs.ts';
import { CodeCounts } from './questions/top-codes.ts';
import type { ColdTexts } from './snapshot/cold-rows.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { RowFinder } from './whole/row-finder.ts';

/**
 * All that `warm` builds, as plain data: a thread builds it and hands it over, so that the event loop need not wait.
 */
export interface CatalogueIndexes {
  readonly runs: CompanyRuns;
  readonly byCompany: PartIndexes;
  readonly ranking: RankingData;
  readonly groups: CohortGroups;
  /** Texts of the cohort's cold rows; `undefined` when they are too long to be loaded. */
  readonly cold: ColdTexts | undefined;
}

export class Catalogue {
  readonly snapshot: Snapshot;
  /** The most recently observed active jobs of the whole catalogue: rows 0 .. at most 9999. */
  readonly cohort: Cohort;
  /** The rows of the cohort, company after company. */
  readonly byCompany: CohortPart;
  readonly foundJobs: FoundJobs;
  readonly listing: ListingIndexes;
  readonly #runs: CompanyRuns;
  readonly #companies = new LRUCache<number, Cohort>({
    maxSize: CACHED_COHORT_ROWS_MAX,
    sizeCalculation: ({ rows }) => rows.length,
  });
  /** Scratch memory of the company question; empty between questions. */
  readonly departmentCounts: CodeCounts;
  readonly skillCounts: CodeCounts;
  /** By department: 0 = not compared yet, 1 = not engineering, 2 = engineering. */
  readonly #engineering: Uint8Array;
  #rankingData: RankingData | undefined;
  #ranking: CompanyRanking | undefined;
  #groups: CohortGroups | undefined;
  #finder: RowFinder | undefined;

  /**
   * @param built the indexes of another catalogue over the same snapshot; without them each is built on first use. Its
   *   texts are passed to `loadTexts`
   */
  constructor(snapshot: Snapshot, built?: CatalogueIndexes) {
    const count = Math.min(snapshot.activeCount, COHORT_ROWS_MAX);
    const rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) rows[row] = row;
    this.snapshot = snapshot;
    this.cohort = new Cohort(snapshot, rows, 'monitored catalogue', snapshot.activeCount > COHORT_ROWS_MAX);
    this.#runs = built?.runs ?? companyRunsOf(snapshot, count);
    this.byCompany = new CohortPart(snapshot, this.#runs.rows, built?.byCompany);
    this.#rankingData = built?.ranking;
    this.#groups = built?.groups;
    this.foundJobs = new FoundJobs(snapshot);
    this.departmentCounts = new CodeCounts(snapshot.departments.size);
    this.skillCounts = new CodeCounts(snapshot.skillNames.size);
    this.#engineering = new Uint8Array(snapshot.departments.size);
    this.listing = new ListingIndexes(snapshot, this);
  }

  get finder(): RowFinder {
    this.#finder ??= new RowFinder(this.snapshot.whole.sets);
    return this.#finder;
  }

  get ranking(): CompanyRanking {
    if (this.#ranking === undefined) {
      this.#rankingData ??= rankingDataOf(this.snapshot, this.#runs);
      this.#ranking = new CompanyRanking(this.snapshot, this.#runs, this.#rankingData);
    }
    return this.#ranking;
  }

  get groups(): CohortGroups {
    this.#groups ??= cohortGroupsOf(this.snapshot, this.cohort.rows.length);
    return this.#groups;
  }

  /**
   * The cohort of a question: the catalogue's or a company's; undefined when no job, active or closed, has the company.
   */
  cohortNamed(domain: CompanyDomain | undefined): Cohort | undefined {
    if (domain === undefined) return this.cohort;
    const company = this.snapshot.companyOf(domain);
    return company === undefined ? undefined : this.cohortOf(company);
  }

  /** The most recently observed active jobs of a company. A small cohort is cheap to make and not cached. */
  cohortOf(company: number): Cohort {
    const cached = this.#companies.get(company);
    if (cached !== undefined) return cached;
    const active = this.snapshot.activeRowsIn(company);
    const rows = active.subarray(0, COHORT_ROWS_MAX);
    const cohort = new Cohort(this.snapshot, rows, 'requested company', active.length > rows.length);
    if (rows.length >= CACHED_COHORT_ROWS_MIN) this.#companies.set(company, cohort);
    return cohort;
  }

  /** Whether the compared text of a department contains `engineering` (decisions §3). */
  isEngineering(department: number): boolean {
    const known = this.#engineering[department]!;
    if (known !== 0) return known === 2;
    const is = this.snapshot.departments.comparedOf(department).includes('engineering');
    this.#engineering[department] = is ? 2 : 1;
    return is;
  }

  /** Builds now what the first questions would otherwise wait for. See {@link warming}. */
  warm(): CatalogueIndexes {
    return resultOf(this.warming());
  }

  /**
   * The same, one part a step; a question that needs a part earlier builds it itself.
   * @returns all of it, for another catalogue over the same snapshot
   * @throws SnapshotChangedError when the snapshot's file changed after it was opened
   */
  *warming(): Steps<CatalogueIndexes> {
    yield* this.byCompany.warming();
    yield;
    void this.ranking;
    yield;
    const cold = this.snapshot.cold.readFirst(this.cohort.rows.length);
    this.loadTexts(cold);
    yield;
    return {
      runs: this.#runs,
      byCompany: this.byCompany.built,
      ranking: this.#rankingData!,
      groups: this.groups,
      cold,
    };
  }

  /** Loads the texts that most answers show. @param cold as `warm` gave it */
  loadTexts(cold: ColdTexts | undefined): void {
    this.foundJobs.loadFirst(this.cohort.rows.length, cold);
  }
}
