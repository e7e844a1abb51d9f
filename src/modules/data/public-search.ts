/** GET /v1/public/search: at most five samples from a fixed pool of twelve jobs, without a key. */
import * as v from 'valibot';
import { perClient } from '../../access/rate-limit.ts';
import { isoTime } from '../../base/iso-time.ts';
import { REMOTE_STATUSES } from '../../catalogue/job.ts';
import { PUBLIC_POOL_SIZE, PUBLIC_SAMPLES_MAX } from '../../catalogue/limits.ts';
import { publicSamples } from '../../catalogue/listing/public-samples.ts';
import { route } from '../../http/route.ts';
import { dateTime, wholeNumber } from '../answer-values.ts';
import { EXAMPLE_ANSWERED_MS, EXAMPLE_JOB } from '../catalogue-examples.ts';
import { keyword } from '../catalogue-parameters.ts';
import { askServed, hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { LIMITATIONS } from '../limitations.ts';
import { limitationsOf } from './envelope.ts';
import { cached, PUBLIC_ANSWER_HEADERS, PUBLIC_CACHE_CONTROL } from './public.ts';
import type { DataServices } from './services.ts';

const POOL = `Samples come from a fixed pool of at most ${PUBLIC_POOL_SIZE} jobs and stand for nothing but themselves.`;

const sample = v.strictObject({
  id: v.string(),
  title: v.string(),
  company: v.string(),
  location: v.nullable(v.string()),
  remote_status: v.picklist(REMOTE_STATUSES),
  last_observed_at: dateTime,
});

export const searchPublicSamples = route<DataServices>()({
  operation: 'searchPublicSamples',
  method: 'GET',
  path: '/v1/public/search',
  summary: 'Up to five samples from a fixed pool of twelve jobs',
  access: [perClient],
  query: v.strictObject({ q: keyword }),
  answer: v.strictObject({
    data: v.strictObject({
      samples: v.pipe(v.array(sample), v.maxLength(PUBLIC_SAMPLES_MAX)),
      returned_samples: wholeNumber(0, PUBLIC_SAMPLES_MAX),
      limit: v.literal(PUBLIC_SAMPLES_MAX),
      pool_size: wholeNumber(0, PUBLIC_POOL_SIZE),
    }),
    meta: v.strictObject({ generated_at: dateTime, limitations: v.array(v.string()) }),
  }),
  answerHeaders: PUBLIC_ANSWER_HEADERS,
  isConditional: true,
  cacheControl: PUBLIC_CACHE_CONTROL,
  errors: SNAPSHOT_ERRORS,
  examples: {
    query: { q: 'engineer' },
    answer: {
      data: {
        samples: [
          {
            id: EXAMPLE_JOB.id,
            title: EXAMPLE_JOB.title,
            company: EXAMPLE_JOB.company,
            location: EXAMPLE_JOB.location,
            remote_status: EXAMPLE_JOB.remote_status,
            last_observed_at: EXAMPLE_JOB.last_observed_at,
          },
        ],
        returned_samples: 1,
        limit: PUBLIC_SAMPLES_MAX,
        pool_size: PUBLIC_POOL_SIZE,
      },
      meta: { generated_at: isoTime(EXAMPLE_ANSWERED_MS), limitations: [...LIMITATIONS, POOL] },
    },
  },
  ready: hasCatalogue,
  handle({ q }, { catalogue, clock }, request) {
    return askServed(catalogue, (served) =>
      cached(served, `search\n${q}`, request, () => {
        const { poolSize, rows } = publicSamples(served.catalogue, q);
        const samples = served.catalogue.foundJobs.at(rows).map((job) => ({
          id: job.id,
          title: job.title,
          company: job.company,
          location: job.location,
          remote_status: job.remoteStatus,
          last_observed_at: isoTime(job.lastObservedMs),
        }));
        return {
          data: { samples, returned_samples: samples.length, limit: PUBLIC_SAMPLES_MAX, pool_size: poolSize },
          meta: { generated_at: isoTime(clock.nowMs()), limitations: [...limitationsOf(served), POOL] },
        };
      }),
    );
  },
});
