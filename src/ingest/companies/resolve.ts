/**
 * The directory's rules (decisions §8): an employer's domain, the evidence for it, and its aliases. Pure. Ranks are
 * tried in order of trust; two candidates of one rank end the search, and candidates of lower ranks become aliases.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { DomainEvidence } from '../../catalogue/domain-evidence.ts';
import { ownerOf } from '../shapes/board.ts';
import { isJobSite } from '../shapes/job-sites.ts';
import type { CompanyList } from './company-list.ts';
import { boardNameOf, type Employer, type HostCount, hasToken } from './employer.ts';
import { isCareersDomain, isCareersHost, isNamed, isRelated, registrableOf, squeezed } from './hosts.ts';
import type { OperatorWords } from './operator-words.ts';

/** An employer's identity; one without a domain has neither evidence nor aliases. */
export interface Identity {
  /** The operator's name for the company; null where the jobs' own names hold. */
  readonly name: string | null;
  readonly domain: CompanyDomain | null;
  readonly evidence: DomainEvidence | null;
  readonly aliases: readonly CompanyDomain[];
}

const UNKNOWN_IDENTITY: Identity = { name: null, domain: null, evidence: null, aliases: [] };

/** Most aliases of one employer, those with the most postings first. */
const ALIASES_MAX = 16;
/** If this many employers of different names post on one registrable domain, it belongs to none of them. */
const SHARED_BY = 3;

type Candidates = ReadonlySet<CompanyDomain>;

/** Registrable domains with the number of employers that post there under unrelated names. */
type SharedSites = ReadonlyMap<CompanyDomain, number>;

function squeezedNamesOf({ shape, board, names }: Employer): ReadonlySet<string> {
  const all = names.map(squeezed);
  if (hasToken(shape)) all.push(squeezed(ownerOf(board)));
  return new Set(all.filter((name) => name !== ''));
}

/**
 * A job-page host that a feed states as the domain shows only where the company posts, like its postings' addresses.
 */
function siteHostsOf({ sites, stated }: Employer): readonly HostCount[] {
  return [...sites, ...stated.filter(({ host }) => isCareersHost(host))].filter(({ host }) => !isJobSite(host));
}

function sharedSitesOf(employers: readonly Employer[]): SharedSites {
  const namesOn = new Map<CompanyDomain, Set<string>>();
  for (const employer of employers) {
    const names = squeezedNamesOf(employer);
    for (const { host } of siteHostsOf(employer)) {
      const registrable = registrableOf(host);
      if (registrable === null || isRelated(registrable, names)) continue;
      const on = namesOn.get(registrable.domain);
      const name = employer.names[0] ?? employer.board;
      if (on === undefined) namesOn.set(registrable.domain, new Set([name]));
      else if (on.size < SHARED_BY) on.add(name);
    }
  }
  return new Map([...namesOn].map(([domain, names]) => [domain, names.size] as const));
}

/** For each registrable domain, the stated host that most jobs have. */
function statedOf({ stated }: Employer): Candidates {
  const best = new Map<string, HostCount>();
  for (const count of stated) {
    if (isJobSite(count.host) || isCareersHost(count.host)) continue;
    const key = registrableOf(count.host)?.domain ?? count.host;
    const other = best.get(key);
    if (other === undefined || count.rows > other.rows || (count.rows === other.rows && count.host < other.host)) {
      best.set(key, count);
    }
  }
  return new Set([...best.values()].map(({ host }) => host));
}

/**
 * The registrable domains of the employer's own site. A related name proves that a host is the company's; without it a
 * host counts only for a board with one company, and only while no others post there.
 */
function sitesOf(employer: Employer, shared: SharedSites): Candidates {
  const names = squeezedNamesOf(employer);
  const found = new Set<CompanyDomain>();
  for (const { host } of siteHostsOf(employer)) {
    const registrable = registrableOf(host);
    if (registrable === null || isCareersDomain(registrable)) continue;
    const isOwn = hasToken(employer.shape) && (shared.get(registrable.domain) ?? 0) < SHARED_BY;
    if (isOwn || isRelated(registrable, names)) found.add(registrable.domain);
  }
  return found;
}

function linksOf(employer: Employer): Candidates {
  const names = squeezedNamesOf(employer);
  const found = new Set<CompanyDomain>();
  for (const { host } of employer.links) {
    const registrable = registrableOf(host);
    if (registrable === null || isJobSite(host) || isCareersDomain(registrable)) continue;
    if (isNamed(registrable, names)) found.add(registrable.domain);
  }
  return found;
}

/** The domains above a host, the closest first. */
const domainsAbove = (host: string): string[] =>
  host.split('.').map((_, place, labels) => labels.slice(place + 1).join('.'));

/**
 * Hosts whose closest domain above is the company's, and domains that it bought for its job pages.
 * @param own domains of the company @param known domains of all companies
 */
function otherHostsOf(
  employer: Employer,
  own: ReadonlySet<string>,
  known: ReadonlySet<string | null>,
): CompanyDomain[] {
  const names = squeezedNamesOf(employer);
  const hosts = [...employer.stated, ...employer.sites]
    .filter(({ host }) => !isJobSite(host))
    .filter(({ host }) => {
      const closest = domainsAbove(host).find((above) => own.has(above) || known.has(above));
      if (closest !== undefined && own.has(closest)) return true;
      const registrable = registrableOf(host);
      return registrable !== null && isCareersDomain(registrable) && isRelated(registrable, names);
    });
  return hosts.sort((a, b) => b.rows - a.rows || (a.host < b.host ? -1 : 1)).map(({ host }) => host);
}

interface Ranked {
  readonly evidence: DomainEvidence;
  readonly candidates: Candidates;
}

interface Sources {
  readonly words: OperatorWords;
  readonly list: CompanyList;
}

function identityOf(
  employer: Employer,
  { words, list }: Sources,
  shared: SharedSites,
): Identity & { isEnded: boolean } {
  const word = words.wordOf(employer);
  const listed = list.domainOf(employer);
  const ranks: Ranked[] = [
    { evidence: 'manifest', candidates: new Set(word?.domain ? [word.domain] : []) },
    { evidence: 'directory', candidates: new Set(listed === undefined ? [] : [listed]) },
    { evidence: 'source', candidates: statedOf(employer) },
    { evidence: 'site', candidates: sitesOf(employer, shared) },
    { evidence: 'links', candidates: linksOf(employer) },
  ];
  const at = ranks.findIndex(({ candidates }) => candidates.size > 0);
  const name = word?.name ?? null;
  const rank = ranks[at];
  if (rank === undefined || rank.candidates.size > 1) return { ...UNKNOWN_IDENTITY, name, isEnded: rank !== undefined };
  const domain = [...rank.candidates][0]!;
  const lower = ranks.slice(at + 1).flatMap(({ candidates }) => (candidates.size === 1 ? [...candidates] : []));
  return { name, domain, evidence: rank.evidence, aliases: [...(word?.aliases ?? []), ...lower], isEnded: true };
}

/**
 * An identity with the hosts under its domain and its aliases. A host under the domain of another company is not its own, though its
 * postings are there.
 * @param domains of all companies
 */
function withOtherHosts(employer: Employer, identity: Identity, domains: ReadonlySet<CompanyDomain | null>): Identity {
  const { domain, aliases } = identity;
  if (domain === null) return identity;
  const own = new Set([domain, ...aliases.filter((alias) => !domains.has(alias))]);
  const all = new Set([...aliases, ...otherHostsOf(employer, own, domains)]);
  all.delete(domain);
  return { ...identity, aliases: [...all].slice(0, ALIASES_MAX) };
}

/** Compared name -> domain -> board, or null where several boards state it. */
type StatedNames = Map<string, Map<CompanyDomain, string | null>>;

function stateName(of: StatedNames, name: string, domain: CompanyDomain, board: string): void {
  const domains = of.get(name) ?? new Map<CompanyDomain, string | null>();
  of.set(name, domains);
  domains.set(domain, !domains.has(domain) || domains.get(domain) === board ? board : null);
}

/**
 * The identity of each employer, in their order.
 * @param employers all employers of the catalogue, because `namesake` and the judgement of sites compare them
 */
export function resolveEmployers(employers: readonly Employer[], sources: Sources): Identity[] {
  const shared = sharedSitesOf(employers);
  const known = employers.map((employer) => identityOf(employer, sources, shared));
  const allDomains = new Set(known.map(({ domain }) => domain));
  const byName: StatedNames = new Map();
  for (const [place, employer] of employers.entries()) {
    const domains = new Set(statedOf(employer));
    const { domain } = known[place]!;
    if (domain !== null) domains.add(domain);
    for (const name of employer.names) for (const each of domains) stateName(byName, name, each, boardNameOf(employer));
  }
  return known.map(({ isEnded, ...identity }, place) => {
    const employer = employers[place]!;
    if (isEnded) return withOtherHosts(employer, identity, allDomains);
    if (sources.list.isAmbiguous(employer.names)) return identity;
    const found = new Set<CompanyDomain>();
    for (const name of employer.names) {
      for (const [domain, board] of byName.get(name) ?? []) if (board !== boardNameOf(employer)) found.add(domain);
    }
    if (found.size !== 1) return identity;
    return withOtherHosts(employer, { ...identity, domain: [...found][0]!, evidence: 'namesake' }, allDomains);
  });
}

/** A job's company as the catalogue shows it. */
export interface ShownCompany {
  readonly company: string;
  readonly companyDomain: CompanyDomain | null;
  readonly companyDomainEvidence: DomainEvidence | null;
}

/**
 * The company of a job. Its domain is that of its own row, unless that is a job-page host or the operator names
 * another; else the employer's.
 */
export function shownCompanyOf(
  job: { readonly company: string; readonly companyDomain: CompanyDomain | null },
  { name, domain, evidence }: Identity,
): ShownCompany {
  const company = name ?? job.company;
  const own = job.companyDomain !== null && isJobSite(job.companyDomain) ? null : job.companyDomain;
  const isKept = own !== null && evidence !== 'manifest' && (domain === null || !isCareersHost(own));
  if (isKept) return { company, companyDomain: own, companyDomainEvidence: 'source' };
  return { company, companyDomain: domain, companyDomainEvidence: evidence };
}
