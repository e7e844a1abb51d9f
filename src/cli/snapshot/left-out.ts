/** Jobs that a build leaves out of the catalogue file, as if its source did not have them. */
import { DAY_MS } from '../../base/durations.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import type { Job } from '../../catalogue/job.ts';
import type { LeftOut } from '../../catalogue/snapshot/snapshot-file.ts';
import type { JobSink, JobSource } from '../../ingest/job-sink.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { sameUrlJobs } from '../../storage/history/same-url.ts';
import { RepeatedAddresses } from './repeated-addresses.ts';

/** Greatest value of --max-age-days: a century. */
export const MAX_AGE_DAYS = 36_500;

/** Active jobs last observed before this are too old; undefined = any age is accepted. */
const oldestMsOf = (maxAgeDays: number | undefined, nowMs: number): number =>
  maxAgeDays === undefined ? Number.NEGATIVE_INFINITY : nowMs - maxAgeDays * DAY_MS;

const isOlder = ({ status, lastObservedMs }: Pick<Job, 'status' | 'lastObservedMs'>, oldestMs: number): boolean =>
  status === 'active' && lastObservedMs < oldestMs;

export interface HistorySelection {
  /** Greatest age of an active job by its last observation; undefined = any. */
  readonly maxAgeDays: number | undefined;
  /** Of active jobs with the same address, keeps only the one observed last. */
  readonly mergesSameUrl: boolean;
}

/** The jobs of a catalogue's history that go into the file. */
export class JobSelection {
  readonly #selection: HistorySelection;
  readonly #oldestMs: number;
  /** Active jobs, young enough, with the address of one that was observed later. */
  readonly #sameUrl: ReadonlySet<number>;
  #agedCount = 0;

  /** @param countsSameUrl whether `sameUrlCount` is needed although such jobs are not left out @throws HistoryError */
  constructor(history: HistoryDatabase, selection: HistorySelection, nowMs: number, countsSameUrl: boolean) {
    this.#selection = selection;
    this.#oldestMs = oldestMsOf(selection.maxAgeDays, nowMs);
    const isWanted = selection.mergesSameUrl || countsSameUrl;
    this.#sameUrl = isWanted ? sameUrlJobs(history, Math.max(this.#oldestMs, Number.MIN_SAFE_INTEGER)) : new Set();
  }

  /** Whether the job goes into the file; call once for each job. @param serial of the job */
  has(serial: number, job: Pick<Job, 'status' | 'lastObservedMs'>): boolean {
    if (isOlder(job, this.#oldestMs)) {
      this.#agedCount++;
      return false;
    }
    return !this.#selection.mergesSameUrl || !this.#sameUrl.has(serial);
  }

  /** Active jobs, young enough, with the address of one that was observed later. */
  get sameUrlCount(): number {
    return this.#sameUrl.size;
  }

  get leftOut(): LeftOut | undefined {
    const { maxAgeDays, mergesSameUrl } = this.#selection;
    if (maxAgeDays === undefined && !mergesSameUrl) return undefined;
    const sameUrlJobs = mergesSameUrl ? this.sameUrlCount : 0;
    return { maxAgeDays: maxAgeDays ?? null, agedJobs: this.#agedCount, sameUrlJobs };
  }
}

/** Passes on jobs of inputs, except active ones that are too old, and counts those that share an address. */
export class RecentJobs implements JobSink {
  readonly #next: JobSink;
  readonly #addresses = new RepeatedAddresses();
  readonly #maxAgeDays: number | undefined;
  readonly #oldestMs: number;
  agedCount = 0;

  constructor(next: JobSink, maxAgeDays: number | undefined, nowMs: number) {
    this.#next = next;
    this.#maxAgeDays = maxAgeDays;
    this.#oldestMs = oldestMsOf(maxAgeDays, nowMs);
  }

  get rowCount(): number {
    return this.#next.rowCount;
  }

  add(job: Job, source: JobSource): number | undefined {
    if (isOlder(job, this.#oldestMs)) {
      this.agedCount++;
      return undefined;
    }
    const earlier = this.#next.add(job, source);
    if (earlier === undefined && job.status === 'active') this.#addresses.add(job.sourceUrl);
    return earlier;
  }

  /** Active jobs that share an address, not counting the first of each. */
  get sameUrlCount(): number {
    return this.#addresses.repeatedCount;
  }

  get leftOut(): LeftOut | undefined {
    if (this.#maxAgeDays === undefined) return undefined;
    return { maxAgeDays: this.#maxAgeDays, agedJobs: this.agedCount, sameUrlJobs: 0 };
  }
}

/** `1 active job`, `2 active jobs`. */
export const jobs = (count: number): string => quantity(count, 'active job');

export function leftOutLine({ maxAgeDays, agedJobs, sameUrlJobs }: LeftOut): string {
  const parts: string[] = [];
  if (maxAgeDays !== null) parts.push(`${jobs(agedJobs)} last observed more than ${grouped(maxAgeDays)} days ago`);
  if (sameUrlJobs > 0 || maxAgeDays === null) parts.push(`${jobs(sameUrlJobs)} with the address of a newer one`);
  return `left out: ${parts.join('; ')}\n`;
}
