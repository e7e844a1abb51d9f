/** What the company routes of the Jobs Data API share. */
import * as v from 'valibot';
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { TOP_ENTRIES_MAX } from '../../catalogue/limits.ts';
import type { DepartmentCount } from '../../catalogue/listing/listing-answers.ts';
import type { Refusal } from '../../http/errors.ts';
import { count } from '../answer-values.ts';
import { noCompany, noDomain } from '../catalogue-refusals.ts';

export const departmentCounts = v.pipe(
  v.array(v.strictObject({ department: v.string(), active_job_count: count })),
  v.maxLength(TOP_ENTRIES_MAX),
);

export const departmentCountsOf = (departments: readonly DepartmentCount[]): v.InferInput<typeof departmentCounts> =>
  departments.map(({ activeJobCount, department }) => ({ department, active_job_count: activeJobCount }));

/** Looks up the company that a path names. A text that is not a domain names no company. */
export function inCompany<T>(
  text: string | undefined,
  find: (domain: CompanyDomain) => T | undefined,
): T | Refusal<'COMPANY_NOT_FOUND'> {
  const domain = parseCompanyDomain(text ?? '');
  return domain === undefined ? noDomain() : (find(domain) ?? noCompany(domain));
}
