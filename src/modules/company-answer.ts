/** A company's observed hiring activity as answers state it (jobs-intelligence "GET /v1/jobs/company"; siblings §4). */
import * as v from 'valibot';
import { isoTimeOrNull } from '../base/iso-time.ts';
import type { CompanyActivity } from '../catalogue/questions/company.ts';
import { count, dateTime } from './answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_OBSERVED_AT } from './catalogue-examples.ts';
import { skillCounts, skillCountsOf } from './skill-counts.ts';

const TOP_COUNT_MAX = 10;

export const companyName = v.strictObject({ name: v.string(), domain: v.nullable(v.string()) });

/** What the company routes state about one company's current jobs. */
export const companyEntries = {
  company: companyName,
  active_job_count: v.nullable(count),
  observed_sample_jobs: count,
  engineering_jobs_in_sample: count,
  engineering_job_count: v.nullable(count),
  top_hiring_departments: v.pipe(
    v.array(v.strictObject({ department: v.string(), observed_job_count: count })),
    v.maxLength(TOP_COUNT_MAX),
  ),
  top_requested_skills: skillCounts,
  last_observed_at: v.nullable(dateTime),
};

export const companyDataOf = (activity: Omit<CompanyActivity, 'cohort'>) => ({
  company: activity.company,
  active_job_count: activity.activeJobCount,
  observed_sample_jobs: activity.observedSampleJobs,
  engineering_jobs_in_sample: activity.engineeringJobsInSample,
  engineering_job_count: activity.engineeringJobCount,
  top_hiring_departments: activity.topDepartments.map(({ department, jobCount }) => ({
    department,
    observed_job_count: jobCount,
  })),
  top_requested_skills: skillCountsOf(activity.topSkills, activity.observedSampleJobs),
  last_observed_at: isoTimeOrNull(activity.lastObservedMs),
});

export const EXAMPLE_ACTIVITY: v.InferInput<v.StrictObjectSchema<typeof companyEntries, undefined>> = {
  company: EXAMPLE_COMPANY,
  active_job_count: 42,
  observed_sample_jobs: 42,
  engineering_jobs_in_sample: 17,
  engineering_job_count: 17,
  top_hiring_departments: [{ department: 'Engineering', observed_job_count: 17 }],
  top_requested_skills: [{ skill: 'python', observed_job_count: 12, sample_size: 42 }],
  last_observed_at: EXAMPLE_OBSERVED_AT,
};
