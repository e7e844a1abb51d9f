/**
 * A job posting as the catalogue has it. The closed lists are the specification's (jobs-intelligence, "Job"). Type, schema,
 * column code and OpenAPI follow from them, and a snapshot stores the index in a list, so new entries go to the end.
 */
import type { CompanyDomain } from './company-domain.ts';
import type { DomainEvidence } from './domain-evidence.ts';

export const REMOTE_STATUSES = ['remote', 'hybrid', 'on_site', 'unknown'] as const;
export type RemoteStatus = (typeof REMOTE_STATUSES)[number];

export const EMPLOYMENT_TYPES = ['full_time', 'part_time', 'contract', 'temporary', 'internship', 'unknown'] as const;
export type EmploymentType = (typeof EMPLOYMENT_TYPES)[number];

export const JOB_STATUSES = ['active', 'closed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** `null` is "known to be absent". Strings are well-formed Unicode; times are milliseconds since the epoch, UTC. */
export interface Job {
  readonly id: string;
  readonly title: string;
  readonly company: string;
  readonly companyDomain: CompanyDomain | null;
  /** Where the domain is from; with a domain, null or absent means `source`. */
  readonly companyDomainEvidence?: DomainEvidence | null;
  /** Other domains by which the company is found: the aliases of all its jobs together. */
  readonly companyAliases?: readonly CompanyDomain[];
  readonly location: string | null;
  readonly department: string | null;
  readonly remoteStatus: RemoteStatus;
  readonly employmentType: EmploymentType;
  readonly sourceUrl: string;
  /** Distinct, in the order in which they were recorded. */
  readonly skills: readonly string[];
  readonly firstObservedMs: number;
  readonly lastObservedMs: number;
  readonly status: JobStatus;
  /** When a closed job closed, not before its last observation; null for an active one. */
  readonly closedAtMs: number | null;
  /** Plain text, not blank, at most DESCRIPTION_LENGTH_MAX code points. */
  readonly description: string | null;
  /** The source's description was longer. */
  readonly descriptionTruncated: boolean;
}

/** Code points of a description (siblings §2). */
export const DESCRIPTION_LENGTH_MAX = 20_000;
