/** One company over the whole catalogue (`GET /v1/companies/{domain}` and `/v1/companies/{domain}/hiring`, siblings §4). */
import { firstWhere } from '../../base/first-where.ts';
import type { Catalogue } from '../catalogue.ts';
import type { CompanyDomain } from '../company-domain.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import { scoreHundredths, scoreOf } from '../questions/score.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { CompanyHiring, CompanySummary } from './listing-answers.ts';
import { shownCompany } from './shown-company.ts';

/** `undefined` when no job, active or closed, has the domain, and no company has it as an alias. */
export function companySummary(catalogue: Catalogue, domain: CompanyDomain): CompanySummary | undefined {
  const { listing, snapshot } = catalogue;
  const company = snapshot.companyOf(domain);
  if (company === undefined) return undefined;
  const facts = listing.companyFacts(company);
  return {
    company: shownCompany(snapshot, company),
    activeJobCount: facts.activeCount,
    closedJobCount: facts.closedCount,
    departments: facts.departments,
    firstObservedMs: facts.firstObservedMs,
    lastObservedMs: facts.lastObservedMs,
  };
}

/** `undefined` as for `companySummary`. */
export function companyHiring(
  catalogue: Catalogue,
  domain: CompanyDomain,
  period: ObservationPeriod,
): CompanyHiring | undefined {
  const { listing, snapshot } = catalogue;
  const company = snapshot.companyOf(domain);
  if (company === undefined) return undefined;
  const { departments, skillNames } = snapshot;
  const facts = listing.companyFacts(company);
  const rows = snapshot.activeRowsIn(company);
  return {
    company: shownCompany(snapshot, company),
    activeJobCount: facts.activeCount,
    observedSampleJobs: facts.activeCount,
    engineeringJobsInSample: facts.engineeringJobs,
    engineeringJobCount: facts.engineeringJobs,
    topDepartments: facts.recordedDepartments.map(({ code, count }) => ({
      department: departments.textOf(code),
      jobCount: count,
    })),
    topSkills: facts.skills.map(({ code, count }) => ({ skill: skillNames.textOf(code), jobCount: count })),
    lastObservedMs: rows.length === 0 ? null : snapshot.lastObserved[rows[0]!]!,
    jobsWithoutDepartment: facts.jobsWithoutDepartment,
    assignedDomainJobs: facts.assignedDomainJobs,
    firstObservedJobs: facts.firstObserved.inside(period),
    noLongerObservedJobs: facts.closed.inside(period),
    hiringActivityScore: scoreOf(scoreHundredths(recentlyObserved(snapshot, rows, period), rows.length)),
  };
}

/** How many active rows, ascending, were last observed inside a period. */
function recentlyObserved(
  { lastObserved }: Snapshot,
  rows: Uint32Array,
  { endMs, startMs }: ObservationPeriod,
): number {
  const first = firstWhere(0, rows.length, (place) => lastObserved[rows[place]!]! <= endMs);
  return firstWhere(first, rows.length, (place) => lastObserved[rows[place]!]! < startMs) - first;
}
