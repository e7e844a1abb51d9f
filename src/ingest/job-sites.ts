/**
 * Hosts where postings of many companies are published. A link that leads to one of them says nothing about the
 * company's own domain, so it is never taken for it.
 */
import { type CompanyDomain, parseCompanyDomain } from '../catalogue/company-domain.ts';

/** Registered domains; everything below them counts too. */
const JOB_SITES: ReadonlySet<string> = new Set([
  'applytojob.com',
  'ashbyhq.com',
  'bamboohr.com',
  'breezy.hr',
  'builtin.com',
  'dover.com',
  'eightfold.ai',
  'glassdoor.com',
  'greenhouse.io',
  'gem.com',
  'icims.com',
  'indeed.com',
  'jobvite.com',
  'joinhandshake.com',
  'lever.co',
  'linkedin.com',
  'monster.com',
  'myworkdayjobs.com',
  'myworkdaysite.com',
  'oraclecloud.com',
  'personio.com',
  'personio.de',
  'paylocity.com',
  'recruitee.com',
  'rippling.com',
  'simplify.jobs',
  'smartrecruiters.com',
  'successfactors.com',
  'taleo.net',
  'teamtailor.com',
  'ultipro.com',
  'wellfound.com',
  'workable.com',
  'workatastartup.com',
  'ycombinator.com',
  'ziprecruiter.com',
]);

function isJobSite(host: string): boolean {
  for (let from = 0; from !== -1; ) {
    if (JOB_SITES.has(host.slice(from))) return true;
    const dot = host.indexOf('.', from);
    from = dot === -1 ? -1 : dot + 1;
  }
  return false;
}

/** The domain that a company's own web address names, without a leading `www.`; null when it names none. */
export function companyDomainOfUrl(text: string): CompanyDomain | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  const host = url.hostname.replace(/^www\./, '');
  return isJobSite(host) ? null : (parseCompanyDomain(host) ?? null);
}
