/** Jobs as answers show them, by row. */
import type { CompanyDomain } from '../company-domain.ts';
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import { KEPT_JOBS_MAX, KEPT_TEXT_BYTES_MAX } from '../limits.ts';
import type { ColdRow, LoadedColdRows } from '../snapshot/cold-rows.ts';
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
  /** Ids and source URLs of the first rows, once they are kept. */
  #cold: LoadedColdRows | undefined;
  /** By employer, of the first ones: the company's domain, once it was in an answer. */
  #domains: (CompanyDomain | null | undefined)[] = [];
  /** The newest of those jobs that were in an answer; as long from the start as it can get, or it becomes a hash table. */
  #kept: (FoundJob | undefined)[] = [];

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Keeps the texts of the first `count` rows in memory where they are short enough, and the newest of the jobs made of them.
   * throws  SnapshotChangedError when the snapshot's file was altered in place
   */
  keepFirst(count: number): void {
    const { employer, employerNames, location, locations, title, titles } = this.#snapshot;
    this.#cold = this.#snapshot.cold.loadFirst(count, KEPT_TEXT_BYTES_MAX);
    this.#kept = new Array<undefined>(this.#cold?.count ?? 0).fill(undefined);
    // Codes are numbered by first appearance, so the texts of the first rows are the first texts.
    const employerCount = codeCountOf(employer, count);
    titles.keepFirst(codeCountOf(title, count), KEPT_TEXT_BYTES_MAX);
    employerNames.keepFirst(employerCount, KEPT_TEXT_BYTES_MAX);
    locations.keepFirst(codeCountOf(location, count), KEPT_TEXT_BYTES_MAX);
    this.#domains = new Array<undefined>(Math.min(employerCount, count)).fill(undefined);
  }

  /**
   * The jobs of some rows, in their order, not to be modified.
   * throws  SnapshotChangedError when one is not kept and the snapshot's file was altered in place
   */
  at(rows: readonly number[]): FoundJob[] {
    const kept = this.#kept;
    for (const row of rows) if (row >= kept.length) return this.#read(rows);
    const jobs: FoundJob[] = [];
    for (const row of rows) {
      let job = kept[row];
      if (job === undefined) job = this.#made(row);
      jobs.push(job);
    }
    return jobs;
  }

  #made(row: number): FoundJob {
    const cold = this.#cold!;
    if (row >= KEPT_JOBS_MAX) return this.#described(row, cold.pieceAt(row), true);
    const job = this.#described(row, cold.rowAt(row), false);
    this.#kept[row] = job;
    return job;
  }

  #read(rows: readonly number[]): FoundJob[] {
    return this.#snapshot.cold.rowsAt(rows).map((cold, i) => this.#described(rows[i]!, cold, false));
  }

  /** inPieces  for one answer: quicker to make, slower to write out */
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

/** One more than the largest of the first codes. */
function codeCountOf(codes: Uint32Array, count: number): number {
  let codeCount = 0;
  for (let row = 0; row < count; row++) if (codes[row]! >= codeCount) codeCount = codes[row]! + 1;
  return codeCount;
}
