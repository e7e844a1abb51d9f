/** Skills of matching jobs as the company and skills routes state them. */
import * as v from 'valibot';
import { TOP_ENTRIES_MAX } from '../catalogue/limits.ts';
import { count } from './answer-values.ts';

export const skillCounts = v.pipe(
  v.array(v.strictObject({ skill: v.string(), observed_job_count: count, sample_size: count })),
  v.maxLength(TOP_ENTRIES_MAX),
);

export const skillCountsOf = (
  skills: readonly { readonly skill: string; readonly jobCount: number }[],
  sampleSize: number,
): v.InferInput<typeof skillCounts> =>
  skills.map(({ skill, jobCount }) => ({ skill, observed_job_count: jobCount, sample_size: sampleSize }));
