/** Jobs as answers show them, by row. Those of the catalogue's cohort are in most answers, so their texts are loaded. */
import type { CompanyDomain } from '../company-domain.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import { CACHED_JOBS_MAX } from '../limits.ts';
import {
  type ColdRow,
  type ColdTexts,
  type LoadedColdRows,
  loadedColdRows,
  type RowTexts,
} from '../snapshot/cold-rows.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { TextColumn } from '../snapshot/text-column.ts';

/** A job as the search question shows it. */
export interface FoundJob {
  readonly id: string;
  readonly title: string;
  /** As recorded on this job. */
  readonly company: string;
  readonly companyDomain: string | null;
  readonly location: string | null;
  readonly remoteStatus: RemoteStatus;
  readonly employmentType: EmploymentType;
  readonly sourceUrl: string;
  readonly lastObservedMs: number;
}

export class FoundJobs {
  readonly #snapshot: Snapshot;
  /** Ids and source URLs of the first rows, once they are loaded. */
  #cold: LoadedColdRows | undefined;
  /** By employer, for the first ones: the company's domain, once an answer showed it. */
  #domains: (CompanyDomain | null | undefined)[] = [];
  /** By row: the job, once an answer showed it. Allocated at full length: V8 turns a sparse array into a hash table. */
  #cached: (FoundJob | undefined)[] = [];

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** Loads the texts of the first `count` rows, and caches the newest jobs from then on. @param cold as `readFirst` gave it */
  loadFirst(count: number, cold: ColdTexts | undefined): void {
    const { employer, employerNames, location, locations, title, titles } = this.#snapshot;
    this.#cold = cold === undefined ? undefined : loadedColdRows(cold);
    this.#cached = new Array<undefined>(this.#cold?.count ?? 0).fill(undefined);
    // Codes are numbered by first appearance, so the texts of the first rows have the lowest codes.
    const employerCount = codeCountOf(employer, count);
    titles.loadFirst(codeCountOf(title, count));
    employerNames.loadFirst(employerCount);
    locations.loadFirst(codeCountOf(location, count));
    this.#domains = new Array<undefined>(Math.min(employerCount, count)).fill(undefined);
  }

  /**
   * The jobs of some rows, in their order; read only.
   * @throws SnapshotChangedError when one is not loaded and the snapshot's file changed after it was opened
   */
  at(rows: readonly number[]): FoundJob[] {
    const cached = this.#cached;
    for (const row of rows) if (row >= cached.length) return this.#read(rows);
    const jobs: FoundJob[] = [];
    for (const row of rows) {
      let job = cached[row];
      if (job === undefined) job = this.#loaded(row);
      jobs.push(job);
    }
    return jobs;
  }

  /** Ids and source URLs of some rows, valid until the next read of cold rows; in the order of the rows. Errors as `at`. */
  textsAt(rows: readonly number[]): RowTexts {
    const cold = this.#cold;
    return cold !== undefined && rows.every((row) => row < cold.count)
      ? cold.textsAt(rows)
      : this.#snapshot.cold.textsAt(rows);
  }

  #loaded(row: number): FoundJob {
    const cold = this.#cold!;
    if (row >= CACHED_JOBS_MAX) return this.#described(row, cold.pieceAt(row), true);
    const job = this.#described(row, cold.rowAt(row), false);
    this.#cached[row] = job;
    return job;
  }

  #read(rows: readonly number[]): FoundJob[] {
    return this.#snapshot.cold.rowsAt(rows).map((cold, i) => this.#described(rows[i]!, cold, false));
  }

  /** @param inPieces for a job that is written once: faster to make, slower to write out */
  #described(row: number, { id, sourceUrl }: ColdRow, inPieces: boolean): FoundJob {
    const snapshot = this.#snapshot;
    const employer = snapshot.employer[row]!;
    const location = snapshot.location[row]!;
    return {
      id,
      title: textIn(snapshot.titles, snapshot.title[row]!, inPieces),
      company: textIn(snapshot.employerNames, employer, inPieces),
      companyDomain: this.#domainOf(employer),
      location: location === 0 ? null : textIn(snapshot.locations, location, inPieces),
      remoteStatus: REMOTE_STATUSES[snapshot.remoteStatus[row]!]!,
      employmentType: EMPLOYMENT_TYPES[snapshot.employmentType[row]!]!,
      sourceUrl,
      lastObservedMs: snapshot.lastObserved[row]!,
    };
  }

  #domainOf(employer: number): CompanyDomain | null {
    let domain = this.#domains[employer];
    if (domain === undefined) {
      domain = this.#snapshot.domainOf(this.#snapshot.employerCompany[employer]!);
      if (employer < this.#domains.length) this.#domains[employer] = domain;
    }
    return domain;
  }
}

const textIn = (column: TextColumn, code: number, inPieces: boolean): string =>
  inPieces ? column.pieceOf(code) : column.textOf(code);

/** How many codes the first `count` rows use: one more than the largest. */
function codeCountOf(codes: Uint32Array, count: number): number {
  let codeCount = 0;
  for (let row = 0; row < count; row++) if (codes[row]! >= codeCount) codeCount = codes[row]! + 1;
  return codeCount;
}
