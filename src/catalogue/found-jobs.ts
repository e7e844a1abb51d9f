/** Jobs as answers show them, by row. */
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from './job.ts';
import { KEPT_COLD_BYTES_MAX, KEPT_JOBS_MAX } from './limits.ts';
import type { ColdRow, Snapshot } from './snapshot.ts';

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
  #coldRow: ((row: number) => ColdRow) | undefined;
  /** Of those rows, the jobs that were in an answer; as long from the start as it can get, or it becomes a hash table. */
  #kept: (FoundJob | undefined)[] = [];

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Keeps ids and source URLs of the first `count` rows in memory where they are short enough, and the newest of the jobs made
   * of them.
   * throws  SnapshotChangedError when the snapshot's file was altered in place
   */
  keepFirst(count: number): void {
    this.#coldRow = this.#snapshot.firstColdRows(count, KEPT_COLD_BYTES_MAX);
    this.#kept = new Array<undefined>(this.#coldRow === undefined ? 0 : count).fill(undefined);
  }

  /**
   * The jobs of some rows, in their order, not to be modified.
   * throws  SnapshotChangedError when one is not kept and the snapshot's file was altered in place
   */
  at(rows: readonly number[]): FoundJob[] {
    const kept = this.#kept;
    const coldRow = this.#coldRow;
    for (const row of rows) if (row >= kept.length) return this.#read(rows);
    const jobs: FoundJob[] = [];
    for (const row of rows) {
      let job = kept[row];
      if (job === undefined) {
        job = this.#described(row, coldRow!(row));
        if (row < KEPT_JOBS_MAX) kept[row] = job;
      }
      jobs.push(job);
    }
    return jobs;
  }

  #read(rows: readonly number[]): FoundJob[] {
    return this.#snapshot.coldRows(rows).map((cold, i) => this.#described(rows[i]!, cold));
  }

  #described(row: number, { id, sourceUrl }: ColdRow): FoundJob {
    const snapshot = this.#snapshot;
    const employer = snapshot.employer[row]!;
    const location = snapshot.location[row]!;
    return {
      id,
      title: snapshot.titles.textOf(snapshot.title[row]!),
      company: snapshot.employerNames.textOf(employer),
      companyDomain: snapshot.domainOf(snapshot.employerCompany[employer]!),
      location: location === 0 ? null : snapshot.locations.textOf(location),
      remoteStatus: REMOTE_STATUSES[snapshot.remoteStatus[row]!]!,
      employmentType: EMPLOYMENT_TYPES[snapshot.employmentType[row]!]!,
      sourceUrl,
      lastObservedMs: snapshot.lastObserved[row]!,
    };
  }
}
