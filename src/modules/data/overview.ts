/** GET /v1/metrics/overview: the catalogue in numbers. */
import * as v from 'valibot';
import { isoTimeOrNull } from '../../base/iso-time.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../../catalogue/job.ts';
import { route } from '../../http/route.ts';
import { count, dateTime } from '../answer-values.ts';
import { EXAMPLE_FIRST_OBSERVED_AT, EXAMPLE_OBSERVED_AT } from '../catalogue-examples.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { answered, envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import type { DataServices } from './services.ts';

const COST = 2;

export const getOverview = route<DataServices>()({
  operation: 'getOverview',
  method: 'GET',
  path: '/v1/metrics/overview',
  summary: 'The catalogue in numbers',
  access: keyed('signals:read', COST),
  query: v.strictObject({}),
  answer: envelope(
    v.strictObject({
      active_jobs: count,
      closed_jobs: count,
      companies: count,
      by_remote_status: v.pipe(
        v.array(v.strictObject({ remote_status: v.picklist(REMOTE_STATUSES), active_job_count: count })),
        v.length(REMOTE_STATUSES.length),
      ),
      by_employment_type: v.pipe(
        v.array(v.strictObject({ employment_type: v.picklist(EMPLOYMENT_TYPES), active_job_count: count })),
        v.length(EMPLOYMENT_TYPES.length),
      ),
      first_observed_at: v.nullable(dateTime),
      last_observed_at: v.nullable(dateTime),
    }),
  ),
  errors: SNAPSHOT_ERRORS,
  examples: {
    answer: {
      data: {
        active_jobs: 136_174,
        closed_jobs: 8021,
        companies: 9410,
        by_remote_status: REMOTE_STATUSES.map((remote_status) => ({ remote_status, active_job_count: 34_043 })),
        by_employment_type: EMPLOYMENT_TYPES.map((employment_type) => ({ employment_type, active_job_count: 22_695 })),
        first_observed_at: EXAMPLE_FIRST_OBSERVED_AT,
        last_observed_at: EXAMPLE_OBSERVED_AT,
      },
      meta: exampleMeta(COST),
    },
  },
  ready: hasCatalogue,
  handle: (_, services, request) =>
    answered(services, request, ({ listing: { overview } }) => ({
      data: {
        active_jobs: overview.activeJobs,
        closed_jobs: overview.closedJobs,
        companies: overview.companies,
        by_remote_status: overview.byRemoteStatus.map(({ activeJobCount, remoteStatus }) => ({
          remote_status: remoteStatus,
          active_job_count: activeJobCount,
        })),
        by_employment_type: overview.byEmploymentType.map(({ activeJobCount, employmentType }) => ({
          employment_type: employmentType,
          active_job_count: activeJobCount,
        })),
        first_observed_at: isoTimeOrNull(overview.firstObservedMs),
        last_observed_at: isoTimeOrNull(overview.lastObservedMs),
      },
      cost: COST,
    })),
});
