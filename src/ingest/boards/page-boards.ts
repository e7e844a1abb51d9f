/**
 * Which board a careers page shows, from its HTML. In this order: boards that it embeds or whose API its scripts name,
 * a platform's careers site under the company's own host, boards that it links to, and its own JobPosting markup. Pure.
 *
 * A page that embeds two boards, or only links to boards whose names resemble neither its host nor its company, decides
 * nothing: a wrong board would put another company's jobs into the catalogue.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { companyHostOf, isCareersDomain, isRelated, registrableOf, squeezed } from '../companies/hosts.ts';
import { pageContent } from '../input/page-content.ts';
import { textOf } from '../input/source-field.ts';
import { ownerOf } from '../shapes/board.ts';
import { postingFieldsOf } from '../shapes/posting-ld.ts';
import { boardOfAddress, type NamedBoard, pageBoardOf } from './address-rules.ts';
import { type BoardShape, nameOfBoard } from './board.ts';
import { listingOf } from './page-listing.ts';

export type PageVerdict =
  /** `mayBeNone`: the page only seems to run on the platform, so its feed has to confirm the board. */
  | { readonly kind: 'board'; readonly board: NamedBoard; readonly mayBeNone: boolean; readonly postings: number }
  | {
      readonly kind: 'none';
      /** A sentence for the person who gave the address. */
      readonly reason: string;
      /** Pages of the same company that may show its jobs, best first. */
      readonly careersPages: readonly string[];
    };

/** Characters of a page that are looked at: several times the longest real one. */
const PAGE_LENGTH_MAX = 4_000_000;
/** Boards that a message names. */
const NAMED_MAX = 5;
/** Most platform addresses read from a page: a page that lists every job of a large board has some thousand. */
const ADDRESSES_MAX = 20_000;
/** Characters of a start tag before an address in it. */
const TAG_LENGTH_MAX = 4000;
const CAREERS_PAGES_MAX = 2;

/** An address on a platform, as it may stand in an attribute, a script or JSON. */
const PLATFORM_ADDRESS =
  /(?:https?:)?\/\/(?:[a-z0-9_-]+\.){1,4}(?:greenhouse\.io|lever\.co|ashbyhq\.com|smartrecruiters\.com|workable\.com|recruitee\.com|teamtailor\.com|myworkdayjobs\.com|myworkdaysite\.com)(?![a-z0-9.-])[^\s"'<>()\\`]{0,500}/gi;
/**
 * Script options that name a board without an address, and what the page must have besides, because scripts of others
 * use such names too.
 */
const SCRIPT_OPTIONS: readonly (readonly [shape: BoardShape, option: RegExp, beside: RegExp])[] = [
  [
    'greenhouse',
    /["']?(?:greenhouse)?board_?token["']?\s*[:=]\s*["']([a-z0-9_-]{1,100})["']/gi,
    /greenhouse|grnhse|\bgh_jid\b/i,
  ],
  ['lever', /leverJobsOptions\s*=\s*\{[^}]{0,200}?accountName["']?\s*:\s*["']([a-z0-9_-]{1,100})["']/gi, /lever/i],
  ['smartrecruiters', /["']?company_code["']?\s*:\s*["']([a-z0-9_-]{1,100})["']/gi, /smartrecruiters/i],
  ['recruitee', /rtWidget[^;]{0,200}?companies["']?\s*:\s*\[\s*["']([a-z0-9_-]{1,100})["']/gi, /rtWidget/i],
];
/** Elements that load what they name into the page. */
const LOADING = /^<(?:iframe|script|embed|object)\b/i;
/** Addresses from which a script fetches a board's jobs. */
const API =
  /^\/\/(?:boards-api\.greenhouse\.io|api\.(?:eu\.)?lever\.co|api\.ashbyhq\.com|api\.smartrecruiters\.com)\//i;
/** Files that only careers sites of a platform load, whatever their host. */
const PLATFORM_FILES: readonly (readonly [shape: 'teamtailor' | 'recruitee', RegExp])[] = [
  ['teamtailor', /teamtailor-cdn\.com\/|<meta[^>]{1,200}content=["']Teamtailor/i],
  ['recruitee', /recruiteecdn\.com\/|careers-site\.recruitee\.com\//i],
];
const CAREERS_LINK = /<a\b[^<>]{0,500}?href\s*=\s*["']?([^"'\s>]{1,500})/gi;
const CAREERS_PATH =
  /(?:^|[/.-])(?:careers?|jobs?|join(?:-us)?|hiring|vacanc(?:y|ies)|openings?|work-with-us|karriere|emplois?|recrutement|carreras|empleo|lavora-con-noi|vacatures|werken-bij|jobb|karriar)(?:[/.?-]|$)/i;

interface Boards {
  readonly embedded: ReadonlyMap<string, NamedBoard>;
  readonly linked: ReadonlyMap<string, NamedBoard>;
}

/** The start tag around a position in the text; empty outside tags. */
function tagAround(html: string, place: number): string {
  const before = html.slice(Math.max(0, place - TAG_LENGTH_MAX), place);
  const start = before.lastIndexOf('<');
  return start === -1 || before.lastIndexOf('>') > start ? '' : before.slice(start, start + 20);
}

function boardsIn(html: string, address: string): Boards {
  const embedded = new Map<string, NamedBoard>();
  const linked = new Map<string, NamedBoard>();
  let count = 0;
  for (const match of html.matchAll(PLATFORM_ADDRESS)) {
    if (++count > ADDRESSES_MAX) break;
    const found = match[0].replace(/^https?:/i, '');
    const verdict = boardOfAddress(`https:${found.replace(/[.,;]+$/, '')}`);
    if (verdict.kind !== 'board') continue;
    const isEmbedded = API.test(found) || LOADING.test(tagAround(html, match.index)) || /\/embed\b/.test(found);
    (isEmbedded ? embedded : linked).set(nameOfBoard(verdict).toLowerCase(), verdict);
  }
  for (const [shape, option, beside] of SCRIPT_OPTIONS) {
    if (!beside.test(html) && !beside.test(address)) continue;
    for (const [, token] of html.matchAll(option)) {
      const verdict = boardOfAddress(`${shape}:${token}`);
      if (verdict.kind === 'board') embedded.set(nameOfBoard(verdict).toLowerCase(), verdict);
    }
  }
  return { embedded, linked };
}

/** Whether a board is named like the page's host or company: acme.com and greenhouse:acmeinc. */
function isOfPage({ token }: NamedBoard, address: string, company: string | null): boolean {
  const names = new Set([squeezed(ownerOf(token))]);
  const registrable = registrableOf(new URL(address).hostname);
  if (registrable !== null && isRelated(registrable, names)) return true;
  return company !== null && names.has(squeezed(company));
}

const namesOf = (boards: ReadonlyMap<string, NamedBoard>): string => {
  const names = [...boards.values()].map(nameOfBoard);
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
};

/** Pages of the same company whose links are labelled as careers pages, in the order of the page. */
function careersPagesOf(html: string, address: string): string[] {
  const own = registrableOf(new URL(address).hostname)?.domain ?? new URL(address).hostname;
  const found = new Set<string>();
  let count = 0;
  for (const [, href = ''] of html.matchAll(CAREERS_LINK)) {
    if (++count > ADDRESSES_MAX) break;
    if (!URL.canParse(href, address)) continue;
    const url = new URL(href, address);
    url.hash = '';
    const isOwn = url.hostname === own || url.hostname.endsWith(`.${own}`);
    const says = CAREERS_PATH.test(url.pathname) || CAREERS_PATH.test(url.hostname);
    if (isOwn && says && /^https?:$/.test(url.protocol) && url.href !== address) found.add(url.href);
    if (found.size === CAREERS_PAGES_MAX) break;
  }
  return [...found];
}

/**
 * @param html as it came, without running its scripts
 * @param address of the page, after redirects
 */
export function boardOfPage(html: string, address: string): PageVerdict {
  // In JSON slashes may be escaped, in attributes ampersands are.
  const text = html.slice(0, PAGE_LENGTH_MAX).replaceAll('\\/', '/').replaceAll('&amp;', '&');
  const { document } = pageContent(text);
  const { postings, pages, first } = listingOf(document, address);
  const found = (board: NamedBoard, mayBeNone = false): PageVerdict => ({ kind: 'board', board, mayBeNone, postings });
  const none = (reason: string): PageVerdict => ({ kind: 'none', reason, careersPages: careersPagesOf(text, address) });

  const { embedded, linked } = boardsIn(text, address);
  const [only] = embedded.values();
  if (only !== undefined && embedded.size === 1) return found(only);
  if (only !== undefined)
    return none(`the page shows several boards (${namesOf(embedded)}): add the one that you mean`);
  const { origin, host } = new URL(address);
  const platform = PLATFORM_FILES.find(([, mark]) => mark.test(text))?.[0];
  if (platform !== undefined) return found({ shape: platform, token: host, address: origin }, true);
  const company = first === undefined ? null : postingFieldsOf(first).company;
  const related = new Map([...linked].filter(([, board]) => isOfPage(board, address, company)));
  const [link] = related.values();
  if (link !== undefined && related.size === 1) return found(link);
  if (linked.size > 0 && postings === 0) {
    return none(`the page links to ${namesOf(linked)}, which may be another company’s: add the board that you mean`);
  }
  if (postings === 0 && pages.length === 0) {
    return none(
      'the page shows no board that can be read: it embeds none, links to none, and has no JobPosting in JSON-LD',
    );
  }
  const isOneJob = postings === 1 && pages.length === 0 && isPageOf(first?.url, address);
  if (isOneJob) return none('the page is about one job: add the page that lists the jobs');
  return found(pageBoardOf(address));
}

const plainPath = ({ pathname }: URL): string => pathname.replace(/(?<!\/)\/+$/, '');

const isPageOf = (url: unknown, address: string): boolean => {
  const text = textOf(url);
  if (text === null) return true;
  if (!URL.canParse(text, address)) return false;
  return plainPath(new URL(text, address)) === plainPath(new URL(address));
};

/** The domain of the company whose own site shows a page; null on a job site, and on a domain bought for jobs. */
export function companyDomainOfPage(address: string): CompanyDomain | null {
  const host = companyHostOf(address);
  const registrable = host === null ? null : registrableOf(host);
  return registrable === null || isCareersDomain(registrable) ? null : registrable.domain;
}
