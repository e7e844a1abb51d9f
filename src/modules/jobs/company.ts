/** GET /v1/jobs/company: one company's observed hiring activity over seven days. */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { companyActivity } from '../../catalogue/questions/company.ts';
import { route } from '../../http/route.ts';
import { count, dateTime } from '../answer-values.ts';
import { periodEndingAt } from './answer-period.ts';
import { envelope, isoTimeOrNull, metaOf } from './envelope.ts';
import { EXAMPLE_COMPANY, EXAMPLE_OBSERVED_AT, exampleMeta } from './examples.ts';
import { companyDomain, period } from './parameters.ts';
import { CATALOGUE_UNAVAILABLE, COMPANY_NOT_FOUND, hasCatalogue, noCatalogue, noCompany } from './refusals.ts';
import type { JobsServices } from './services.ts';
import { skillCounts, skillCountsOf } from './skill-counts.ts';

const TOP_COUNT_MAX = 10;

export const companyName = v.strictObject({ name: v.string(), domain: v.nullable(v.string()) });

const companyData = v.strictObject({
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
});

export const summarizeCompany = route<JobsServices>()({
  operation: 'summarizeCompany',
  method: 'GET',
  path: '/v1/jobs/company',
  summary: "Summarize one company's observed hiring activity",
  description:
    'Counts, departments and skills over the most recently observed active jobs of one company. For a company that is not in ' +
    'the catalogue the answer to a valid payment is 404, and nothing is charged.',
  access: [perClient, unlessOverloaded, paid('0.05', 'company')],
  query: v.strictObject({ company: companyDomain, period: v.optional(period, '7d') }),
  answer: envelope(companyData),
  errors: [CATALOGUE_UNAVAILABLE, COMPANY_NOT_FOUND],
  examples: {
    query: { company: EXAMPLE_COMPANY.domain },
    answer: {
      data: {
        company: EXAMPLE_COMPANY,
        active_job_count: 42,
        observed_sample_jobs: 42,
        engineering_jobs_in_sample: 17,
        engineering_job_count: 17,
        top_hiring_departments: [{ department: 'Engineering', observed_job_count: 17 }],
        top_requested_skills: [{ skill: 'python', observed_job_count: 12, sample_size: 42 }],
        last_observed_at: EXAMPLE_OBSERVED_AT,
      },
      meta: exampleMeta('requested company', 42),
    },
  },
  ready: hasCatalogue,
  handle(input, { catalogue, clock }) {
    const served = catalogue.current();
    if (served === undefined) return noCatalogue();
    const activity = companyActivity(served.catalogue, input.company);
    if (activity === undefined) return noCompany(input.company);
    return {
      data: {
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
      },
      meta: metaOf(served, activity.cohort, periodEndingAt(clock.nowMs())),
    };
  },
});
