/**
 * Classifies hosts (decisions §8): a company's own, one of its job pages, or a site where many companies publish.
 * Public suffixes are those of publicsuffix.org, from `tldts`.
 */
import { parse } from 'tldts';
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import { isJobSite } from '../shapes/job-sites.ts';

export interface RegistrableDomain {
  /** `acme.co.uk` of `careers.eu.acme.co.uk`. */
  readonly domain: CompanyDomain;
  /** `acme`: the domain without its public suffix. */
  readonly name: string;
}

/** Hosts looked up last; most descriptions of a board name the same ones. */
const memo = new Map<string, RegistrableDomain | null>();
const MEMO_MAX = 4096;

/** The registrable domain of a host name; null for an address, a public suffix, or a host under no known suffix. */
export function registrableOf(host: string): RegistrableDomain | null {
  const known = memo.get(host);
  if (known !== undefined) return known;
  if (memo.size === MEMO_MAX) memo.clear();
  const { domain, domainWithoutSuffix, isIcann } = parse(host, { validateHostname: false });
  const parsed = isIcann ? parseCompanyDomain(domain ?? '') : undefined;
  const found = parsed === undefined || !domainWithoutSuffix ? null : { domain: parsed, name: domainWithoutSuffix };
  memo.set(host, found);
  return found;
}

/** Suffixes that companies buy for job pages in addition to their usual domain: acme.jobs, acme.careers. */
const CAREERS_SUFFIX = /\.(?:careers?|jobs)$/;
/** The same under any suffix: acmecareers.com, jobs-acme.com, careers.acme (a suffix of the company's own). */
const CAREERS_NAME = /careers?|jobs|hiring|recruit|karriere|talent/;
/** First labels of hosts that companies keep for their job pages. */
const CAREERS_LABEL =
  /^(?:apply|boards?|careers?|emplois?|hiring|jobb?|jobs?|join|karriere|recruiting|talent|work)[.-]/;

/** Whether a domain was bought for job pages: it names the company but is not its usual domain. */
export function isCareersDomain({ domain, name }: RegistrableDomain): boolean {
  return CAREERS_SUFFIX.test(domain) || CAREERS_NAME.test(name);
}

/** Whether a host is one of job pages: careers.acme.com, acme.jobs. */
export function isCareersHost(host: string): boolean {
  const registrable = registrableOf(host);
  return CAREERS_LABEL.test(host) || (registrable !== null && isCareersDomain(registrable));
}

/** The host of an http or https address in lower case, without `www.`; null for other text, addresses of job sites included. */
export function companyHostOf(address: string): CompanyDomain | null {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return null;
  const host = parseCompanyDomain(new URL(address).hostname.replace(/^www\d?\./, ''));
  return host === undefined || isJobSite(host) ? null : host;
}

/** A name as directories of hosts write it: the compared text without blanks and punctuation. */
export function squeezed(name: string): string {
  return comparedText(name).replace(/[^\p{L}\p{N}]+/gu, '');
}

/**
 * Whether a registrable domain is named like one of the squeezed `names`: acme.com for acme, or booking.com for
 * bookingcom.
 */
export function isNamed({ domain, name }: RegistrableDomain, names: ReadonlySet<string>): boolean {
  return names.has(name.replaceAll('-', '')) || names.has(squeezed(domain));
}

/** Shortest part of a name that relates a host to a company. */
const RELATED_LENGTH_MIN = 4;

/** Whether one of the names contains the domain's name or is contained in it: hioscar.com and oscar, skyelectric and sky-electric. */
export function isRelated({ name }: RegistrableDomain, names: ReadonlySet<string>): boolean {
  const plain = name.replaceAll('-', '');
  for (const each of names) {
    if (plain.length >= RELATED_LENGTH_MIN && each.includes(plain)) return true;
    if (each.length >= RELATED_LENGTH_MIN && plain.includes(each)) return true;
  }
  return names.has(plain);
}
