/**
 * The query parameters of the jobs routes, each with its type and the text of its rule (jobs-intelligence, "Endpoints";
 * decisions §3, "Order, cohort, matching").
 */
import * as v from 'valibot';
import { COMPANY_DOMAIN_LENGTH_MAX, COMPANY_DOMAIN_PATTERN, parseCompanyDomain } from '../catalogue/company-domain.ts';
import { EMPLOYMENT_TYPES } from '../catalogue/job.ts';
import { TERM_COUNT_MAX, termCountOf } from '../catalogue/terms.ts';
import { UNSUPPORTED_PERIOD } from './catalogue-refusals.ts';
import { oneOf, parsed, rule } from './parameter-rules.ts';

/** Characters of a job's id (decisions §3, "Native input"). */
const JOB_ID_LENGTH_MAX = 200;

/** Whether the text has `min` to `max` code points. A code point is one or two code units, so most texts need no counting. */
function codePointsWithin(text: string, min: number, max: number): boolean {
  if (text.length >= min * 2 && text.length <= max) return true;
  if (text.length > max * 2) return false;
  let count = 0;
  for (const _ of text) count++;
  return count >= min && count <= max;
}

/** Whether the compared text has a term; a text of diacritics alone has none. */
function hasTerms(text: string): boolean {
  const count = termCountOf(text);
  return count > 0 && count <= TERM_COUNT_MAX;
}

/** One to eight terms, together at least `min` characters including the blanks between them. */
function termsPattern(min: 1 | 2): string {
  const more = (least: number): string => `(\\s+\\S+){${least},${TERM_COUNT_MAX - 1}}`;
  return min === 1 ? `^\\s*\\S+${more(0)}\\s*$` : `^\\s*(\\S{2,}${more(0)}|\\S${more(1)})\\s*$`;
}

/** Filter text: `min` to `max` code points after trimming, at most eight terms. */
export function terms({ min, max, matching }: { min: 1 | 2; max: number; matching: string }) {
  return v.pipe(
    v.string(),
    v.trim(),
    v.check((text) => codePointsWithin(text, min, max) && hasTerms(text)),
    rule({
      rule: `${min} to ${max} characters after trimming, at most ${TERM_COUNT_MAX} terms (${matching})`,
      jsonSchema: { minLength: min, maxLength: max, pattern: termsPattern(min) },
    }),
  );
}

/** A company's domain, lower-cased. */
export const companyDomain = v.pipe(
  v.string(),
  parsed(parseCompanyDomain),
  rule({
    rule: `a company's ASCII domain such as example.com: at most ${COMPANY_DOMAIN_LENGTH_MAX} characters, at least two labels, no scheme, port, path, address or trailing dot`,
    // Two labels and their dot, at least.
    jsonSchema: { minLength: 3, maxLength: COMPANY_DOMAIN_LENGTH_MAX, pattern: COMPANY_DOMAIN_PATTERN },
  }),
);

export const keyword = terms({ min: 2, max: 120, matching: 'each in title, company, department or a skill' });
export const location = terms({ min: 2, max: 80, matching: 'each in the source location text' });
export const department = terms({ min: 2, max: 80, matching: 'the whole must equal a recorded department' });

/** The filters of every route that counts the matching jobs of a cohort. */
export const cohortFilters = {
  role: v.optional(terms({ min: 2, max: 80, matching: 'each in the job title' })),
  location: v.optional(location),
  department: v.optional(department),
};

/** The id of a job as in answers; compared unchanged. */
export const jobId = v.pipe(
  v.string(),
  v.check((text) => codePointsWithin(text, 1, JOB_ID_LENGTH_MAX)),
  rule({
    rule: `the id of a job as an answer states it: 1 to ${JOB_ID_LENGTH_MAX} characters`,
    jsonSchema: { minLength: 1, maxLength: JOB_ID_LENGTH_MAX },
  }),
);

export const employmentType = oneOf(EMPLOYMENT_TYPES);

/** The only supported period; any other has its own error code. */
export const period = v.pipe(
  v.literal('7d'),
  rule({ rule: '`7d`, the only supported period', code: UNSUPPORTED_PERIOD }),
);
