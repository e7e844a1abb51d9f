/** A job as the search question shows it. */
import type { EmploymentType, RemoteStatus } from './job.ts';

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
