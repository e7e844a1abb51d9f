/** The search for companies against a plain filter over all of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { companiesCalled } from '../../../src/catalogue/questions/companies.ts';
import { comparedText, termsOf } from '../../../src/catalogue/terms.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

const name = fc
  .array(fc.constantFrom('A', 'b', 'ab', 'é', 'ß', '日', 'Systems', ' ', '-'), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join('').trim() || 'x');
const domain = fc.constantFrom(null, 'a.com', 'b.io', 'systems-ab.co') as fc.Arbitrary<CompanyDomain | null>;
const terms = fc
  .array(fc.constantFrom('a', 'B', 'ab', 'é', '日', '.', 'com', 'sys', 'ems', 's-a', 'x', 'ss'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(' '));

describe('companies by name', () => {
  it('are those whose name or domain contains every term, most active jobs first, then by domain or name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, domain, fc.boolean()), { maxLength: 20 }),
        terms,
        fc.integer({ min: 1, max: 12 }),
        (all, text, limit) => {
          const snapshot = openedJobs(
            all.map(([company, companyDomain, isActive], place) =>
              minimalJob({
                id: `j${place}`,
                company,
                companyDomain,
                status: isActive ? 'active' : 'closed',
                closedAtMs: isActive ? null : 0,
              }),
            ),
          );
          const companies = Array.from({ length: snapshot.companyCount }, (_, company) => company)
            .sort((a, b) => snapshot.activeCountOf(b) - snapshot.activeCountOf(a) || a - b)
            .map((company) => ({ name: snapshot.shownNameOf(company), domain: snapshot.domainOf(company) }));
          const expected = companies.filter((company) =>
            termsOf(text).every(
              (term) => comparedText(company.name).includes(term) || (company.domain ?? '').includes(term),
            ),
          );
          expect(companiesCalled(snapshot, text, limit)).toEqual(expected.slice(0, limit));
        },
      ),
      { numRuns: partOf(100, 30) },
    );
  });
});
