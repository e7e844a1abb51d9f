/** What the first answer of a board's feed tells about its company, by the rules of a build (decisions §8). Pure. */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import type { CompanyList } from '../companies/company-list.ts';
import { type Employer, type HostCounts, hostCountsOf } from '../companies/employer.ts';
import { namedHosts } from '../companies/named-hosts.ts';
import { OperatorWords } from '../companies/operator-words.ts';
import { resolveEmployers } from '../companies/resolve.ts';
import { ownerOf } from '../shapes/board.ts';
import { shapeNamed } from '../shapes/shapes.ts';
import type { NamedBoard } from './address-rules.ts';
import type { Board } from './board.ts';

/** Rows that are read: enough for the company's name and its hosts. */
const ROWS_MAX = 200;

const count = (counts: HostCounts, host: CompanyDomain): void => void counts.set(host, (counts.get(host) ?? 0) + 1);

export interface SampledBoard {
  /** As the rows spell it, if that differs only in case. */
  readonly token: string;
  /** null: the rows name none. */
  readonly company: string | null;
  readonly domain: CompanyDomain | null;
}

/**
 * @param document the parsed first answer (`documentOf`)
 * @param nowMs milliseconds since the epoch
 */
export function sampleOfBoard(board: NamedBoard, document: unknown, list: CompanyList, nowMs: number): SampledBoard {
  const shape = shapeNamed(board.shape);
  const found = shape.recordsOf(document);
  const own = { company: null, domain: null, url: board.address };
  const context = { fileName: null, observedAtMs: nowMs, board: own, manifest: new Map() };
  const envelope = found.ok && found.envelope ? { envelope: found.envelope } : {};
  let { token } = board;
  const names = new Map<string, string>();
  const stated: HostCounts = new Map();
  const sites: HostCounts = new Map();
  const links: HostCounts = new Map();
  for (const record of found.ok ? found.records.slice(0, ROWS_MAX) : []) {
    const free = shape.nativeOf(record, { ...context, ...envelope });
    if (free.ok && free.board.toLowerCase() === token.toLowerCase()) token = free.board;
    const shaped = shape.nativeOf(record, { ...context, ...envelope, token });
    if (!shaped.ok) continue;
    const { company, company_domain: domain, source_url: sourceUrl, description } = shaped.record;
    // Rows without a name get the token's; a name with capitals is the company's own spelling.
    if (company !== ownerOf(token) || company !== company.toLowerCase()) names.set(comparedText(company), company);
    const statedDomain = parseCompanyDomain(domain ?? '');
    if (statedDomain !== undefined) count(stated, statedDomain);
    const source = { shape, board: token, applyUrl: shaped.applyUrl, description: description ?? null };
    const named = namedHosts({ company, sourceUrl }, source);
    for (const host of named.sites) count(sites, host);
    for (const host of named.links) count(links, host);
  }
  const company = names.size === 1 ? [...names.values()][0]! : null;
  const employer: Employer = {
    ...{ shape: board.shape, board: token, name: company ?? token, jobs: 0, activeJobs: 0 },
    names: names.size === 0 ? [comparedText(ownerOf(token))] : [...names.keys()],
    ...{ stated: hostCountsOf(stated), sites: hostCountsOf(sites), links: hostCountsOf(links) },
  };
  const [identity] = resolveEmployers([employer], { words: new OperatorWords([]), list });
  const listedName = list.ofBoard({ shape: board.shape, board: token })?.name ?? null;
  return { token, company: company ?? listedName, domain: identity?.domain ?? null };
}

/** A board with the company and domain found for it. */
export const boardWith = (named: NamedBoard, { token, company, domain }: SampledBoard): Board => ({
  shape: named.shape,
  token,
  company,
  domain,
  address: named.address,
});
