/** GET /v1/metrics/hiring: hiring activity of the last seven days over the whole catalogue. */
import * as v from 'valibot';
import { DAY_MS } from '../../base/durations.ts';
import { isoDate } from '../../base/iso-time.ts';
import { TOP_ENTRIES_MAX } from '../../catalogue/limits.ts';
import { hiringMetrics } from '../../catalogue/listing/metrics.ts';
import { observationPeriodEndingAt } from '../../catalogue/questions/period.ts';
import { route } from '../../http/route.ts';
import { observationPeriod, periodOf } from '../answer-period.ts';
import { count } from '../answer-values.ts';
import { EXAMPLE_COMPANY, EXAMPLE_PERIOD } from '../catalogue-examples.ts';
import { period } from '../catalogue-parameters.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { companyName } from '../company-answer.ts';
import { departmentCounts, departmentCountsOf } from './companies.ts';
import { answered, envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import type { DataServices } from './services.ts';

const COST = 5;
/** UTC days that a period of seven days touches: both of its ends belong to it, so at midnight too. */
const DAY_COUNT = 8;

const top = <S extends v.GenericSchema>(entry: S) => v.pipe(v.array(entry), v.maxLength(TOP_ENTRIES_MAX));

export const getHiringMetrics = route<DataServices>()({
  operation: 'getHiringMetrics',
  method: 'GET',
  path: '/v1/metrics/hiring',
  summary: 'Hiring metrics of the last seven days',
  description:
    'Jobs first observed and no longer observed, by day, and the companies, departments and skills with the most active jobs.',
  access: keyed('signals:read', COST),
  query: v.strictObject({ period: v.optional(period, '7d') }),
  answer: envelope(
    v.strictObject({
      observation_period: observationPeriod,
      first_observed_jobs: count,
      no_longer_observed_jobs: count,
      net_change: v.pipe(v.number(), v.integer()),
      by_day: v.pipe(
        v.array(
          v.strictObject({
            date: v.pipe(v.string(), v.isoDate()),
            first_observed_jobs: count,
            no_longer_observed_jobs: count,
          }),
        ),
        v.length(DAY_COUNT),
      ),
      top_companies: top(v.strictObject({ company: companyName, active_job_count: count, first_observed_jobs: count })),
      top_departments: departmentCounts,
      top_skills: top(v.strictObject({ skill: v.string(), active_job_count: count })),
    }),
  ),
  errors: SNAPSHOT_ERRORS,
  examples: {
    answer: {
      data: {
        observation_period: EXAMPLE_PERIOD,
        first_observed_jobs: 12,
        no_longer_observed_jobs: 5,
        net_change: 7,
        by_day: Array.from({ length: DAY_COUNT }, (_, day) => ({
          date: isoDate(Date.parse(EXAMPLE_PERIOD.start) + day * DAY_MS),
          first_observed_jobs: day === 0 ? 12 : 0,
          no_longer_observed_jobs: day === 0 ? 5 : 0,
        })),
        top_companies: [{ company: EXAMPLE_COMPANY, active_job_count: 42, first_observed_jobs: 6 }],
        top_departments: [{ department: 'Engineering', active_job_count: 17 }],
        top_skills: [{ skill: 'python', active_job_count: 812 }],
      },
      meta: exampleMeta(COST),
    },
  },
  ready: hasCatalogue,
  handle: (_, services, request) =>
    answered(services, request, (catalogue, nowMs) => {
      const observed = observationPeriodEndingAt(nowMs);
      const metrics = hiringMetrics(catalogue, observed);
      return {
        data: {
          observation_period: periodOf(observed),
          first_observed_jobs: metrics.firstObservedJobs,
          no_longer_observed_jobs: metrics.noLongerObservedJobs,
          net_change: metrics.netChange,
          by_day: metrics.byDay.map(({ dayMs, firstObservedJobs, noLongerObservedJobs }) => ({
            date: isoDate(dayMs),
            first_observed_jobs: firstObservedJobs,
            no_longer_observed_jobs: noLongerObservedJobs,
          })),
          top_companies: metrics.topCompanies.map(({ activeJobCount, company, firstObservedJobs }) => ({
            company,
            active_job_count: activeJobCount,
            first_observed_jobs: firstObservedJobs,
          })),
          top_departments: departmentCountsOf(metrics.topDepartments),
          top_skills: metrics.topSkills.map(({ activeJobCount, skill }) => ({
            skill,
            active_job_count: activeJobCount,
          })),
        },
        cost: COST,
      };
    }),
});
