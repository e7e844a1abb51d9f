/** The engine's answers for the Jobs Data API (siblings §4). Every count is a total over the whole catalogue. */
import type { CompanyDomain } from '../company-domain.ts';
import type { EmploymentType, JobStatus, RemoteStatus } from '../job.ts';
import type { HistoryChange, HistoryKind } from '../packed/history-event.ts';
import type { FoundJob } from '../questions/found-jobs.ts';
import type { RowTexts } from '../snapshot/cold-rows.ts';

/** As shown now: the name on its most recent active job, else on its most recent closed one (decisions §3). */
export interface ShownCompany {
  readonly name: string;
  readonly domain: string | null;
}

/** Filters as the request has them; texts of at most eight terms, `department` and `skill` compared whole. */
export interface JobListFilters {
  keyword?: string | undefined;
  location?: string | undefined;
  company?: CompanyDomain | undefined;
  /** `true` = remote, `false` = on site. */
  remote?: boolean | undefined;
  employmentType?: EmploymentType | undefined;
  department?: string | undefined;
  skill?: string | undefined;
  status: JobStatus | 'any';
  /** Last observed at this moment or later. */
  observedSinceMs?: number | undefined;
}

/** A position is where the next page starts: an order key of at most POSITION_BYTES_MAX bytes, opaque to callers. */
export interface JobPage {
  /** In the order of decisions §3. */
  readonly rows: readonly number[];
  /** Those of the rows whose texts were read, in the same order. */
  readonly read: readonly number[];
  /** Of the rows in `read`; valid until the next read of cold rows. */
  readonly texts: RowTexts;
  /** null when nothing follows. */
  readonly next: Uint8Array | null;
}

export type JobRecord = FoundJob & {
  readonly department: string | null;
  /** As recorded, in the recorded order. */
  readonly skills: readonly string[];
  readonly firstObservedMs: number;
  readonly status: JobStatus;
};

export interface HistoryFilters {
  /** Included; milliseconds. */
  sinceMs?: number | undefined;
  /** Excluded. */
  untilMs?: number | undefined;
  kind?: HistoryKind | undefined;
  company?: CompanyDomain | undefined;
}

export interface ListedEvent {
  readonly id: string;
  readonly jobId: string;
  readonly kind: HistoryKind;
  readonly observedMs: number;
  /** As of the event. */
  readonly title: string;
  /** As shown now; for a job that the snapshot does not hold, as its catalogue has it. */
  readonly company: ShownCompany;
  readonly changes: readonly HistoryChange[];
}

export interface HistoryPage {
  readonly events: readonly ListedEvent[];
  /** For the whole feed null only at the end of a feed with `untilMs`: otherwise a client can follow it for ever. */
  readonly next: Uint8Array | null;
}

export interface DepartmentCount {
  readonly department: string;
  readonly activeJobCount: number;
}

export interface CompanySummary {
  readonly company: ShownCompany;
  readonly activeJobCount: number;
  readonly closedJobCount: number;
  /** At most ten, of active jobs; grouped, shown and ordered as in the market question. */
  readonly departments: readonly DepartmentCount[];
  /** Over active and closed jobs. */
  readonly firstObservedMs: number | null;
  readonly lastObservedMs: number | null;
}

/**
 * The paid company question's counts, taken over every active job of the company so that each is a total, and the
 * changes in the period.
 */
export interface CompanyHiring {
  readonly company: ShownCompany;
  readonly activeJobCount: number;
  /** Equal to the count above, because every active job is looked at. */
  readonly observedSampleJobs: number;
  /** Jobs whose recorded department contains `engineering`, in compared form. */
  readonly engineeringJobsInSample: number;
  readonly engineeringJobCount: number;
  /** At most ten each, count descending, then text ascending by code unit; as recorded. */
  readonly topDepartments: readonly { readonly department: string; readonly jobCount: number }[];
  readonly topSkills: readonly { readonly skill: string; readonly jobCount: number }[];
  /** Of active jobs; null when there is none. */
  readonly lastObservedMs: number | null;
  /** Active jobs without a recorded department, and with a domain that was assigned and not stated. */
  readonly jobsWithoutDepartment: number;
  readonly assignedDomainJobs: number;
  /** First observed inside the period, active and closed. */
  readonly firstObservedJobs: number;
  /** Closed inside the period. */
  readonly noLongerObservedJobs: number;
  /** 0 .. 100, two decimals: the share of active jobs that was last observed inside the period. */
  readonly hiringActivityScore: number;
}

export interface SkillFilters {
  /** Of at most eight terms, each found in the skill. */
  q?: string | undefined;
  company?: CompanyDomain | undefined;
  department?: string | undefined;
}

export interface SkillCount {
  /** As recorded. */
  readonly skill: string;
  readonly activeJobs: number;
  /** With at least one of those jobs. */
  readonly companies: number;
}

export interface SkillPage {
  /** Active jobs descending, then text ascending by code unit. */
  readonly skills: readonly SkillCount[];
  readonly next: Uint8Array | null;
}

export interface Overview {
  readonly activeJobs: number;
  readonly closedJobs: number;
  /** With an active job. */
  readonly companies: number;
  /** Of active jobs: every value of the closed list, in its order. */
  readonly byRemoteStatus: readonly { readonly remoteStatus: RemoteStatus; readonly activeJobCount: number }[];
  readonly byEmploymentType: readonly { readonly employmentType: EmploymentType; readonly activeJobCount: number }[];
  /** Over active and closed jobs. */
  readonly firstObservedMs: number | null;
  readonly lastObservedMs: number | null;
}

export interface HiringDay {
  /** Midnight UTC, milliseconds. */
  readonly dayMs: number;
  readonly firstObservedJobs: number;
  readonly noLongerObservedJobs: number;
}

export interface HiringMetrics {
  /** Inside the period, active and closed. */
  readonly firstObservedJobs: number;
  readonly noLongerObservedJobs: number;
  /** The first less the second. */
  readonly netChange: number;
  /** The UTC days that the period touches, oldest first; the first and last only as far as the period covers them. */
  readonly byDay: readonly HiringDay[];
  /** At most ten each. Companies: active jobs descending, first observed descending, then domain or compared name. */
  readonly topCompanies: readonly {
    readonly company: ShownCompany;
    readonly activeJobCount: number;
    readonly firstObservedJobs: number;
  }[];
  /** Grouped, shown and ordered as in the market question. */
  readonly topDepartments: readonly DepartmentCount[];
  /** As recorded; count descending, then text ascending by code unit. */
  readonly topSkills: readonly { readonly skill: string; readonly activeJobCount: number }[];
}

export interface PublicSamples {
  /** Jobs that a sample is drawn from, at most PUBLIC_POOL_SIZE. */
  readonly poolSize: number;
  /** Matching jobs in the pool's order, by the SHA-256 of the id. */
  readonly rows: readonly number[];
}
