/** The companies that no buyer can ask for, because they have no domain, by the number of jobs that this hides. */
import type { Snapshot } from '../snapshot/snapshot.ts';

export interface CompanyWithoutDomain {
  readonly name: string;
  readonly activeJobs: number;
}

export interface MissingDomains {
  /** Most active jobs first. */
  readonly companies: readonly CompanyWithoutDomain[];
  /** Companies without a domain that have active jobs, the ones left out included. */
  readonly companyCount: number;
}

/**
 * One pass over the active rows.
 * @param isLeftOut called with the shown names, most active jobs first, until `limit` are found
 */
export function missingDomains(
  snapshot: Snapshot,
  limit: number,
  isLeftOut: (name: string) => boolean,
): MissingDomains {
  const { activeCount, companyCount, companyHasDomain, employer, employerCompany } = snapshot;
  const jobs = new Uint32Array(companyCount);
  for (let row = 0; row < activeCount; row++) jobs[employerCompany[employer[row]!]!]!++;
  const missing: number[] = [];
  for (let company = 0; company < companyCount; company++) {
    if (companyHasDomain[company] === 0 && jobs[company]! > 0) missing.push(company);
  }
  missing.sort((a, b) => jobs[b]! - jobs[a]! || a - b);
  const companies: CompanyWithoutDomain[] = [];
  for (const company of missing) {
    if (companies.length === limit) break;
    const name = snapshot.shownNameOf(company);
    if (!isLeftOut(name)) companies.push({ name, activeJobs: jobs[company]! });
  }
  return { companies, companyCount: missing.length };
}
