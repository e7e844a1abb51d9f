/**
 * An event in the history of a job (siblings §4), and how its texts are stored. A snapshot stores the index of a kind in
 * `HISTORY_KINDS`, so new entries go to the end.
 */
import { sha256Base64Url } from '../../base/digest.ts';
import type { CompanyDomain } from '../company-domain.ts';

export const HISTORY_KINDS = ['first_observed', 'changed', 'closed', 'reopened'] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

/** Stands for a row: the snapshot does not hold the job. */
export const NO_ROW = 0xffffffff;

/** Fields whose changes are recorded, as native records name them. */
export const CHANGED_FIELDS = [
  'title',
  'company',
  'company_domain',
  'location',
  'department',
  'remote_status',
  'employment_type',
  'source_url',
  'description',
  'skills',
] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

/** Values as text: both are null for a description; skills are joined by ", ". */
export interface HistoryChange {
  readonly field: ChangedField;
  readonly previous: string | null;
  readonly current: string | null;
}

/** The job of an event whose job is too old for the snapshot. */
export interface AbsentJob {
  readonly id: string;
  readonly company: string;
  readonly companyDomain: CompanyDomain | null;
}

export interface HistoryEvent {
  /** The same in every build from the same catalogue or the same jobs. */
  readonly id: string;
  readonly jobId: string;
  readonly kind: HistoryKind;
  /** Milliseconds since the epoch. */
  readonly observedMs: number;
  /** Of the job; null when the snapshot does not hold it, which `absentJob` then names. */
  readonly row: number | null;
  readonly absentJob: AbsentJob | null;
  /** As of the event. */
  readonly title: string;
  /** Only of `changed`. */
  readonly changes: readonly HistoryChange[];
}

/** The texts of an event that the columns do not have. */
export interface EventTexts {
  /** null: the job's present one. */
  readonly title: string | null;
  readonly changes: readonly HistoryChange[];
  readonly absentJob: AbsentJob | null;
}

/** null when there is nothing to store. */
export function encodedEventTexts({ absentJob, changes, title }: EventTexts): string | null {
  if (title === null && changes.length === 0 && absentJob === null) return null;
  const job = absentJob === null ? null : [absentJob.id, absentJob.company, absentJob.companyDomain];
  return JSON.stringify([title, changes.map(({ current, field, previous }) => [field, previous, current]), job]);
}

type EncodedChange = [field: ChangedField, previous: string | null, current: string | null];
type EncodedJob = [id: string, company: string, companyDomain: CompanyDomain | null];

/** @param text as `encodedEventTexts` gave it: the block that it is from has a checksum */
export function decodedEventTexts(text: string): EventTexts {
  const [title, changes, job] = JSON.parse(text) as [string | null, EncodedChange[], EncodedJob | null];
  return {
    title,
    changes: changes.map(([field, previous, current]) => ({ field, previous, current })),
    absentJob: job && { id: job[0], company: job[1], companyDomain: job[2] },
  };
}

/** The id of an event that a catalogue recorded. @param serial of the catalogue */
export const recordedEventId = (serial: number): string => `ev_${serial}`;

/** The id of an event that follows from the job's own record, which has at most one of each kind. */
export const derivedEventId = (jobId: string, kind: HistoryKind, observedMs: number): string =>
  `ev_${sha256Base64Url(`${kind}\n${observedMs}\n${jobId}`).slice(0, 22)}`;
