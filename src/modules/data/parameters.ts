/** The query parameters that several routes of the Jobs Data API have (siblings §4). */
import * as v from 'valibot';
import { JOB_STATUSES } from '../../catalogue/job.ts';
import { terms } from '../catalogue-parameters.ts';
import { integer, moment, oneOf } from '../parameter-rules.ts';
import { cursor } from './cursors.ts';

export const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 25;

/** Parameters of every list. */
export const paging = {
  cursor: v.optional(cursor),
  limit: v.optional(integer(1, PAGE_LIMIT_MAX), PAGE_LIMIT_DEFAULT),
};

const STATUSES = [...JOB_STATUSES, 'any'] as const;

/** Filters of every list of jobs. */
export const ofJobs = {
  status: v.optional(oneOf(STATUSES), 'active'),
  observed_since: v.optional(moment),
};

/** The names of some skills have one letter. */
export const skill = terms({ min: 1, max: 80, matching: 'the whole must equal a recorded skill' });
export const partOfSkill = terms({ min: 1, max: 80, matching: 'each found in the same recorded skill' });
