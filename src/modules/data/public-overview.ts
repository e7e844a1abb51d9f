/** GET /v1/public/overview: the catalogue in four numbers, without a key. */
import * as v from 'valibot';
import { perClient } from '../../access/rate-limit.ts';
import { isoTime, isoTimeOrNull } from '../../base/iso-time.ts';
import { route } from '../../http/route.ts';
import { count, dateTime } from '../answer-values.ts';
import { EXAMPLE_ANSWERED_MS, EXAMPLE_OBSERVED_AT } from '../catalogue-examples.ts';
import { CATALOGUE_UNAVAILABLE, hasCatalogue, noCatalogue } from '../catalogue-refusals.ts';
import { cached, PUBLIC_ANSWER_HEADERS, PUBLIC_CACHE_CONTROL } from './public.ts';
import type { DataServices } from './services.ts';

export const getPublicOverview = route<DataServices>()({
  operation: 'getPublicOverview',
  method: 'GET',
  path: '/v1/public/overview',
  summary: 'The catalogue in four numbers',
  access: [perClient],
  query: v.strictObject({}),
  answer: v.strictObject({
    data: v.strictObject({
      active_jobs: count,
      closed_jobs: count,
      companies: count,
      last_observed_at: v.nullable(dateTime),
    }),
    meta: v.strictObject({ generated_at: dateTime }),
  }),
  answerHeaders: PUBLIC_ANSWER_HEADERS,
  isConditional: true,
  cacheControl: PUBLIC_CACHE_CONTROL,
  errors: [CATALOGUE_UNAVAILABLE],
  examples: {
    answer: {
      data: { active_jobs: 136_174, closed_jobs: 8021, companies: 9410, last_observed_at: EXAMPLE_OBSERVED_AT },
      meta: { generated_at: isoTime(EXAMPLE_ANSWERED_MS) },
    },
  },
  ready: hasCatalogue,
  handle(_, { catalogue, clock }, request) {
    const served = catalogue.current();
    if (served === undefined) return noCatalogue();
    return cached(served, 'overview', request, () => {
      const { activeJobs, closedJobs, companies, lastObservedMs } = served.catalogue.listing.overview;
      return {
        data: {
          active_jobs: activeJobs,
          closed_jobs: closedJobs,
          companies,
          last_observed_at: isoTimeOrNull(lastObservedMs),
        },
        meta: { generated_at: isoTime(clock.nowMs()) },
      };
    });
  },
});
