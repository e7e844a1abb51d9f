/**
 * The hosts that stand in a description: in links, in addresses of mail and in plain text. Only those that are called like
 * the company matter (decisions §8, `links`), so a host is looked at where its name begins like one of them.
 */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { isJobSite } from '../shapes/job-sites.ts';
import { isNamed, registrableOf } from './hosts.ts';

/** Characters of a description that are read: several times the longest real one. */
const DESCRIPTION_LENGTH_MAX = 200_000;
/** Distinct hosts of one description that are judged; a posting with more is a list of links. */
const HOSTS_MAX = 64;

/** A run of labels of which the last one is letters. What stands before it must not continue a word. */
const HOST = /(?<![a-z0-9.-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}(?![a-z0-9-])/gi;

/** A last label with letters of both cases. */
const MIXED_END = /\.(?=[a-z]*[A-Z])(?=[A-Z]*[a-z])[a-zA-Z]+$/;

/**
 * The registrable domains in a description whose name equals one of `names`, distinct.
 * @param names squeezed: the board's token and the company's name
 */
export function linkedDomains(description: string, names: ReadonlySet<string>): CompanyDomain[] {
  const found = new Set<CompanyDomain>();
  const seen = new Set<string>();
  for (const [text] of description.slice(0, DESCRIPTION_LENGTH_MAX).matchAll(HOST)) {
    // "We are Acme.You will" lacks a blank, and .You is no suffix: a host is written in one case at its end.
    if (MIXED_END.test(text)) continue;
    const host = text.toLowerCase();
    if (seen.has(host)) continue;
    if (seen.size === HOSTS_MAX) break;
    seen.add(host);
    if (parseCompanyDomain(host) === undefined || isJobSite(host)) continue;
    const registrable = registrableOf(host);
    if (registrable !== null && isNamed(registrable, names)) found.add(registrable.domain);
  }
  return [...found];
}
