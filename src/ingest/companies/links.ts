/**
 * The hosts in a description: in links, mail addresses and plain text. Only those named like the company matter
 * (decisions §8, `links`), so a host is examined only if its name begins like one of `names`.
 */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { isJobSite } from '../shapes/job-sites.ts';
import { isNamed, registrableOf } from './hosts.ts';

/** Characters of a description that are read: several times the longest real one. */
const DESCRIPTION_LENGTH_MAX = 200_000;
/** Most distinct hosts judged in one description; a posting with more is a list of links. */
const HOSTS_MAX = 64;

/** A run of labels, the last of letters only. It begins where a run of host characters begins, never inside a word. */
const HOST = /(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}(?![a-z0-9-])/iy;

/** By code unit: whether it may stand in a host. */
const IN_HOST = Uint8Array.from({ length: 128 }, (_, unit) => Number(/[a-z0-9.-]/i.test(String.fromCharCode(unit))));

/** A last label with letters of both cases. */
const MIXED_END = /\.(?=[a-z]*[A-Z])(?=[A-Z]*[a-z])[a-zA-Z]+$/;

/** The hosts in a text. Most words have no dot, so the search goes from dot to dot: a tenth of the time of a search by the pattern. */
function* hostsIn(text: string): Generator<string, void, void> {
  const isInHost = (at: number): boolean => IN_HOST[text.charCodeAt(at)] === 1;
  for (let dot = text.indexOf('.'); dot !== -1; ) {
    let start = dot;
    while (start > 0 && isInHost(start - 1)) start--;
    let end = dot + 1;
    while (end < text.length && isInHost(end)) end++;
    HOST.lastIndex = start;
    const found = start < dot && end > dot + 1 ? HOST.exec(text) : null;
    if (found !== null) yield found[0];
    dot = text.indexOf('.', end);
  }
}

/**
 * The registrable domains in a description whose name equals one of `names`, distinct.
 * @param names squeezed: the board's token and the company's name
 */
export function linkedDomains(description: string, names: ReadonlySet<string>): CompanyDomain[] {
  const found = new Set<CompanyDomain>();
  const seen = new Set<string>();
  for (const text of hostsIn(description.slice(0, DESCRIPTION_LENGTH_MAX))) {
    // "We are Acme.You will" lacks a blank, and .You is no suffix: the end of a host is written in one case.
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
