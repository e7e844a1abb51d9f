/**
 * Hosts where postings of many companies are published. A link that leads to one of them says nothing about the
 * company's own domain.
 */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';

/** Registered domains; everything below them counts too. */
const JOB_SITES: ReadonlySet<string> = new Set([
  'adp.com',
  'angel.co',
  'applytojob.com',
  'arbeitnow.com',
  'ashbyhq.com',
  'avature.net',
  'bamboohr.com',
  'bit.ly',
  'brassring.com',
  'breezy.hr',
  'builtin.com',
  'careerpuck.com',
  'careers-page.com',
  'comeet.co',
  'comeet.com',
  'crunchbase.com',
  'csod.com',
  'dayforcehcm.com',
  'dice.com',
  'dover.com',
  'eightfold.ai',
  'facebook.com',
  'freshteam.com',
  'gem.com',
  'github.com',
  'github.io',
  'glassdoor.com',
  'greenhouse.io',
  'grnh.se',
  'himalayas.app',
  'homerun.co',
  'icims.com',
  'indeed.com',
  'instagram.com',
  'isolvedhire.com',
  'jazz.co',
  'jobscore.com',
  'jobvite.com',
  'jobylon.com',
  'join.com',
  'joinhandshake.com',
  'justjoin.it',
  'kula.ai',
  'lever.co',
  'linkedin.com',
  'lnkd.in',
  'monster.com',
  'myworkdayjobs.com',
  'myworkdaysite.com',
  'nofluffjobs.com',
  'notion.site',
  'oraclecloud.com',
  'paycomonline.net',
  'paylocity.com',
  'personio.com',
  'personio.de',
  'phenompeople.com',
  'pinpointhq.com',
  'polymer.co',
  'recruitee.com',
  'remoteok.com',
  'remoteok.io',
  'remotive.com',
  'remotive.io',
  'rippling.com',
  'saashr.com',
  'simplify.jobs',
  'smartrecruiters.com',
  'softgarden.io',
  'successfactors.com',
  'taleo.net',
  'teamtailor.com',
  'themuse.com',
  'topcv.vn',
  'trakstar.com',
  'twitter.com',
  'ukg.com',
  'ultipro.com',
  'usajobs.gov',
  'welcomekit.co',
  'welcometothejungle.com',
  'wellfound.com',
  'weworkremotely.com',
  'wixsite.com',
  'workable.com',
  'workatastartup.com',
  'x.com',
  'ycombinator.com',
  'ziprecruiter.com',
  'zohorecruit.com',
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

/** First labels of hosts that companies keep for their job pages; what follows is the company's own domain. */
const CAREERS_LABEL =
  /^(?:www|apply|boards?|careers?|emplois?|explore|hiring|jobb?|jobs?|join|karriere|people|recruiting|team|work)\.(?=[^.]+\.)/;

/** What is left of jobs.co.uk is no company's: suffixes of two labels, as countries have them. */
const SUFFIX = /^(?:ac|co|com|edu|gov|net|ne|or|org)\.[a-z]{2}$/;

/** As `companyDomainOfUrl`, for the address of a posting on the company's own site: careers.acme.com is acme.com. */
export function companyDomainOfPosting(text: string | null): CompanyDomain | null {
  const domain = companyDomainOfUrl(text ?? '');
  const rest = domain?.replace(CAREERS_LABEL, '') ?? '';
  return SUFFIX.test(rest) ? domain : (parseCompanyDomain(rest) ?? null);
}
