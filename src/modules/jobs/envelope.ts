/**
 * The envelope of the jobs routes and its `meta` (jobs-intelligence "Envelope and `meta`"): an answer's scope, freshness,
 * coverage, methodology and limitations. All of it except the time and the period follows from the snapshot and the cohort.
 */
import * as v from 'valibot';
import { grouped } from '../../base/grouped.ts';
import { isoTimeOrNull } from '../../base/iso-time.ts';
import type { CohortFacts, JobFacts, SearchFacts } from '../../catalogue/cohort.ts';
import { COHORT_ROWS_MAX } from '../../catalogue/limits.ts';
import { type AnswerPeriod, observationPeriod } from '../answer-period.ts';
import { dateTime, wholeNumber } from '../answer-values.ts';
import { LIMITATIONS, SYNTHETIC } from '../limitations.ts';

const meta = v.strictObject({
  product: v.literal('SERVICE JOBS INTELLIGENCE'),
  generated_at: dateTime,
  observation_period: observationPeriod,
  freshness: v.strictObject({
    last_observed_at: v.nullable(dateTime),
    oldest_last_observed_at: v.optional(v.nullable(dateTime)),
  }),
  coverage: v.strictObject({
    scope: v.literal('Service monitored catalogue'),
    aggregation: v.string(),
    sampled: v.boolean(),
    candidate_limit: v.literal(COHORT_ROWS_MAX),
    candidate_jobs: wholeNumber(0, COHORT_ROWS_MAX),
    candidate_scope: v.picklist(['requested company', 'monitored catalogue']),
    selection: v.string(),
    pagination_available: v.literal(false),
  }),
  methodology: v.strictObject({
    version: v.string(),
    current_jobs: v.string(),
    period: v.string(),
    remote_false: v.string(),
    historical_changes: v.optional(v.string()),
    hiring_activity_score: v.optional(v.string()),
  }),
  limitations: v.array(v.string()),
});

export type Meta = v.InferInput<typeof meta>;

export function envelope<D extends v.GenericSchema>(data: D) {
  return v.strictObject({ data, meta });
}

/** Version of the rules that choose, filter and count the cohort. Every change that can alter an answer raises it. */
const METHOD_VERSION = '2.0';

const ORDER = 'most recently observed first, ties by the SHA-256 of the job id, then by job id';

/** What `coverage` says about the candidates, by their kind. */
const CANDIDATES = {
  cohort: {
    aggregation: `counts over a candidate cohort of at most ${COHORT_ROWS_MAX} active jobs`,
    selection: `active jobs, ${ORDER}`,
    sampled: `The scope has more active jobs than the cohort of ${COHORT_ROWS_MAX}: totals are null and counts are lower bounds.`,
  },
  'matching jobs': {
    aggregation: `none: every active job of the scope is looked at, and the matching ones are candidates, ${COHORT_ROWS_MAX} at most`,
    selection: `active jobs that match every filter, ${ORDER}`,
    sampled: `More than ${COHORT_ROWS_MAX} active jobs match: the candidates are the newest of them.`,
  },
  'one job': {
    aggregation: 'none: the answer is one job',
    selection: 'the job with the requested id, active or closed',
    sampled: '',
  },
} as const;

const METHODOLOGY = {
  current_jobs: 'jobs whose recorded status is active',
  period: 'the seven days of UTC time that end when the answer is made, both ends included',
  remote_false: 'remote=false means on_site jobs only: hybrid and unknown are excluded',
  historical_changes: 'not part of this answer: it describes current jobs and when they were observed',
  hiring_activity_score:
    'round(100 * recently_observed_jobs / observed_sample_jobs, 2): activity in this catalogue, not company growth',
} as const;

/** The facts of the catalogue that `meta` needs. */
interface Provenance {
  /** True for the built-in sample: the answers must state that its jobs are made up. */
  readonly isSynthetic: boolean;
  readonly catalogue: { readonly snapshot: { readonly facts: { readonly skillsVersion: string } } };
}

const withoutDepartment = (count: number, of: number): string =>
  `${grouped(count)} of the ${grouped(of)} jobs of the cohort have no recorded department: counts by department and the filter ` +
  '`department` leave them out.';

/** Domains that the catalogue assigned, in place of the operator or the job's own source (decisions §8). */
const withAssignedDomain = (count: number, of: number): string =>
  `For ${grouped(count)} of the ${grouped(of)} jobs of the cohort the company's domain was assigned by the catalogue (from a ` +
  'directory, the addresses of the postings, their links, or a namesake); their source does not state it.';

/** @param historicalChanges what the answer says about changes, if it covers more than current jobs */
export function metaOf(
  served: Provenance,
  coverage: SearchFacts | CohortFacts | JobFacts,
  period: AnswerPeriod,
  historicalChanges?: string,
): Meta {
  const limitations: string[] = [...LIMITATIONS];
  const words = CANDIDATES[coverage.basis];
  if (coverage.sampled) limitations.push(words.sampled);
  if (coverage.basis !== 'matching jobs' && coverage.assignedDomainJobs > 0) {
    limitations.push(withAssignedDomain(coverage.assignedDomainJobs, coverage.candidateJobs));
  }
  if (coverage.basis === 'cohort' && coverage.jobsWithoutDepartment > 0) {
    limitations.push(withoutDepartment(coverage.jobsWithoutDepartment, coverage.candidateJobs));
  }
  if (served.isSynthetic) limitations.push(SYNTHETIC);
  return {
    product: 'SERVICE JOBS INTELLIGENCE',
    generated_at: period.end,
    observation_period: period,
    freshness: {
      last_observed_at: isoTimeOrNull(coverage.newestObservedMs),
      oldest_last_observed_at: isoTimeOrNull(coverage.oldestObservedMs),
    },
    coverage: {
      scope: 'Service monitored catalogue',
      aggregation: words.aggregation,
      sampled: coverage.sampled,
      candidate_limit: COHORT_ROWS_MAX,
      candidate_jobs: coverage.candidateJobs,
      candidate_scope: coverage.scope,
      selection: words.selection,
      pagination_available: false,
    },
    methodology: {
      version: `${METHOD_VERSION}+skills.${served.catalogue.snapshot.facts.skillsVersion}`,
      ...METHODOLOGY,
      ...(historicalChanges === undefined ? {} : { historical_changes: historicalChanges }),
    },
    limitations,
  };
}
