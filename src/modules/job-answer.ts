/** Jobs as answers show them (jobs-intelligence, "Job"; siblings §2, §4): schema and wire form side by side. */
import * as v from 'valibot';
import { isoTime, isoTimeOrNull } from '../base/iso-time.ts';
import { EMPLOYMENT_TYPES, JOB_STATUSES, type Job, REMOTE_STATUSES } from '../catalogue/job.ts';
import type { JobRecord } from '../catalogue/listing/listing-answers.ts';
import type { ClosedFoundJob } from '../catalogue/questions/changes.ts';
import type { FoundJob } from '../catalogue/questions/found-jobs.ts';
import { dateTime } from './answer-values.ts';

/**
 * A job's address. The build has parsed it; a gate does not parse it again, because runtimes differ over hosts such as `xn--a`,
 * and every answer with such a job would be invalid.
 */
const sourceUrl = v.pipe(
  v.string(),
  v.check((text) => /^https?:\/\//i.test(text)),
  v.metadata({ format: 'uri' }),
);

const jobEntries = {
  id: v.string(),
  title: v.string(),
  company: v.string(),
  company_domain: v.nullable(v.string()),
  location: v.nullable(v.string()),
  remote_status: v.picklist(REMOTE_STATUSES),
  employment_type: v.picklist(EMPLOYMENT_TYPES),
  source_url: sourceUrl,
  last_observed_at: dateTime,
};

export const job = v.strictObject(jobEntries);

export const jobOf = (found: FoundJob) => ({
  id: found.id,
  title: found.title,
  company: found.company,
  company_domain: found.companyDomain,
  location: found.location,
  remote_status: found.remoteStatus,
  employment_type: found.employmentType,
  source_url: found.sourceUrl,
  last_observed_at: isoTime(found.lastObservedMs),
});

export const closedJob = v.strictObject({
  id: v.string(),
  title: v.string(),
  company: v.string(),
  company_domain: v.nullable(v.string()),
  last_observed_at: dateTime,
  closed_at: dateTime,
});

export const closedJobOf = (found: ClosedFoundJob) => ({
  id: found.id,
  title: found.title,
  company: found.company,
  company_domain: found.companyDomain,
  last_observed_at: isoTime(found.lastObservedMs),
  closed_at: isoTime(found.closedAtMs),
});

export const jobRecord = v.strictObject({
  ...jobEntries,
  department: v.nullable(v.string()),
  skills: v.array(v.string()),
  first_observed_at: dateTime,
  status: v.picklist(JOB_STATUSES),
});

export const jobRecordOf = (record: JobRecord) => ({
  ...jobOf(record),
  department: record.department,
  skills: [...record.skills],
  first_observed_at: isoTime(record.firstObservedMs),
  status: record.status,
});

export const jobDetail = v.strictObject({
  ...jobRecord.entries,
  description: v.nullable(v.string()),
  description_truncated: v.boolean(),
  closed_at: v.nullable(dateTime),
});

export const jobDetailOf = (whole: Job) => ({
  ...jobRecordOf(whole),
  description: whole.description,
  description_truncated: whole.descriptionTruncated,
  closed_at: isoTimeOrNull(whole.closedAtMs),
});
