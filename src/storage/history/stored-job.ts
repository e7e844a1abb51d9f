/** A job as the history stores it, with a checksum. */
import { parseJson } from '../../base/json-value.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import type { KnownJob } from '../../ingest/history/observation.ts';
import { checksumOfFields } from '../sqlite/checksum.ts';
import type { Row } from '../sqlite/connection.ts';
import { type HistoryDatabase, HistoryError } from './database.ts';

/** The rows of `job` as `storedJobOf` takes them. */
export const JOBS = `SELECT job.*,
  (SELECT to_ms FROM repeated WHERE repeated.board = job.board AND from_ms = present_ms) AS repeated_ms FROM job`;

/** A stored job with its place in the tables. */
export interface StoredJob extends KnownJob {
  readonly serial: number;
  readonly board: number;
  readonly dictionary: number;
}

export function checksumOfJob(job: Omit<StoredJob, 'serial'>): number {
  const { job: fields } = job;
  return checksumOfFields(
    fields.id,
    job.board,
    fields.title,
    fields.company,
    fields.companyDomain ?? '',
    fields.location ?? '',
    fields.department ?? '',
    fields.remoteStatus,
    fields.employmentType,
    fields.sourceUrl,
    JSON.stringify(fields.skills),
    Number(job.hasOwnSkills),
    job.dictionary,
    job.descriptionDigest ?? '',
    job.firstMs,
    job.lastMs,
    job.presentMs,
    Number(job.isSourceClosed),
    job.closedMs ?? '',
  );
}

/** Decodes a row of `JOBS`. @throws HistoryError when the row is damaged */
export function storedJobOf({ path }: HistoryDatabase, row: Row): StoredJob {
  const skills = parseJson(String(row.skills)); // the checksum below reports what is not JSON
  const job: StoredJob = {
    serial: row.serial as number,
    board: row.board as number,
    dictionary: row.dictionary as number,
    job: {
      id: row.id as string,
      title: row.title as string,
      company: row.company as string,
      companyDomain: row.company_domain as CompanyDomain | null,
      location: row.location as string | null,
      department: row.department as string | null,
      remoteStatus: row.remote_status as RemoteStatus,
      employmentType: row.employment_type as EmploymentType,
      sourceUrl: row.source_url as string,
      skills: Array.isArray(skills) ? skills : [],
    },
    descriptionDigest: row.description_digest as string | null,
    hasOwnSkills: row.has_own_skills === 1,
    isSourceClosed: row.is_source_closed === 1,
    firstMs: row.first_observed_ms as number,
    lastMs: row.last_observed_ms as number,
    presentMs: row.present_ms as number,
    closedMs: row.closed_ms as number | null,
  };
  if (row.checksum !== checksumOfJob(job)) {
    throw new HistoryError(`${path} is damaged: the record of job ${JSON.stringify(row.id)} is not what was written`);
  }
  const repeatedMs = row.repeated_ms as number | null;
  return repeatedMs === null ? job : { ...job, lastMs: Math.max(job.lastMs, repeatedMs), presentMs: repeatedMs };
}
