/**
 * The public endpoint of each kind of board: the first request, how an answer leads to the next page, when a feed is
 * complete, and how to get a posting's description if the list lacks it. Pure: a feed is folded answer by answer
 * (`firstStep`, `stepAfter`); the caller sends the requests and obeys rates, bounds and robots rules.
 *
 * greenhouse       GET boards-api.greenhouse.io/v1/boards/<token>/jobs?content=true: everything in one answer. Boards that
 *                  are shown on job-boards.eu.greenhouse.io are answered by the same host
 * lever            GET api.lever.co (api.eu.lever.co) /v0/postings/<site>?mode=json: everything in one answer
 * ashby            GET api.ashbyhq.com/posting-api/job-board/<name>: everything in one answer
 * smartrecruiters  GET api.smartrecruiters.com/v1/companies/<identifier>/postings, 100 a page; descriptions one by one
 * workable         GET apply.workable.com/api/v1/widget/accounts/<account>?details=true: everything in one answer
 * recruitee        GET <host>/api/offers/: everything in one answer
 * teamtailor       GET <host>/jobs.json: JSON Feed, pages by `next_url` (jsonfeed.org/version/1.1)
 * workday          POST <host>/wday/cxs/<tenant>/<site>/jobs, 20 a page and not one more, 2000 a search: workday-search.ts;
 *                  descriptions one by one
 * jsonld           GET the page: its JobPostings, and the pages of its own host that its ItemList names
 *
 * Fetching descriptions one by one is worth one request for each job, because skills come from them. `detailRequest` is for
 * rows without a description in the catalogue; a list without descriptions erases none (ingest/history/observation.ts). A
 * change in the description alone is missed there, which costs less than a request for each job in each round.
 */
import { withoutByteOrderMark } from '../../base/codec.ts';
import { objectOf } from '../../base/json-value.ts';
import { parsedJson } from '../input/lenient-json.ts';
import { pageContent } from '../input/page-content.ts';
import { type SourceRecord, textOf } from '../input/source-field.ts';
import type { Board, BoardShape } from './board.ts';
import type { BoardRequest, OwnRequest, PageFound } from './board-request.ts';
import { type BoardOrigins, replacedAddress } from './origins.ts';
import { GOES_ON, listingOf } from './page-listing.ts';
import { firstSearch, nextSearch, workdayPlaceOf } from './workday-search.ts';

/** Pages of one feed: 10,000 jobs at Workday's 20 a page. */
export const FEED_PAGES_MAX = 500;
const SMARTRECRUITERS_PAGE = 100;

/** How far a feed is read. */
export interface FeedStep {
  /** Answers that were read. */
  readonly pages: number;
  /** Rows in them. */
  readonly rows: number;
  /** The requests still to send, in order. */
  readonly queue: readonly OwnRequest[];
  /** A page stated more rows than can be fetched. */
  readonly isCutShort: boolean;
  /** Pages of single postings that no longer exist. */
  readonly missing: number;
  /** Keys of the rows that came, where pages have them. Owned by the feed: each step adds to it. */
  readonly seen: Set<string>;
  /** Requests already sent, so that pages that link back cause no loop. Owned by the feed. */
  readonly asked: Set<string>;
  /** How many distinct keys make the feed whole. */
  readonly different: number;
}

export type FeedProgress =
  | { readonly kind: 'next'; readonly step: FeedStep; readonly request: BoardRequest }
  /** Every page came. */
  | { readonly kind: 'complete'; readonly rows: number }
  /** All that can be fetched came, but the board has more: closes no job. `reason` is a sentence about the board. */
  | { readonly kind: 'partial'; readonly rows: number; readonly reason: string }
  /** The answer does not have this shape. `reason` completes "the answer ...". */
  | { readonly kind: 'broken'; readonly reason: string };

interface Endpoint {
  /** Boards have hosts of their own. */
  readonly hasOwnHosts: boolean;
  /** One GET may answer everything, descriptions included; its validators then cover the whole feed. */
  readonly mayBeOneAnswer: boolean;
  /** Pages after the first are single postings, each of which may be missing. */
  readonly hasPostingPages?: boolean;
  readonly accept: BoardRequest['accept'];
  first(board: Board): OwnRequest;
  /** undefined: the document is no answer of this shape. `request` is the request that it answers. */
  page(document: unknown, request: OwnRequest, board: Board): PageFound | undefined;
  /** The request for a row's description, if the list has none. */
  detail?(row: SourceRecord, board: Board): OwnRequest | undefined;
}

const get = (url: string): OwnRequest => ({ method: 'GET', url, body: null });
const wordingOf = ({ url, body }: OwnRequest): string => `${url} ${body}`;
const hostOf = (address: string): string => new URL(address).host;
const listed = (document: unknown, key: string): PageFound | undefined => {
  const rows = objectOf(document)?.[key];
  return Array.isArray(rows) ? { rows: rows.length, more: [] } : undefined;
};
/** A list in one answer that also states its length: a shorter list was truncated. */
const counted = (document: unknown, key: string, total: unknown): PageFound | undefined => {
  const found = listed(document, key);
  return found && typeof total === 'number' && total > found.rows ? { ...found, isCutShort: true } : found;
};

const greenhouse: Endpoint = {
  hasOwnHosts: false,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ token }) =>
    get(`https://boards-api.greenhouse.io/v1/boards/${encodeURIComponent(token)}/jobs?content=true`),
  page: (document) => counted(document, 'jobs', objectOf(objectOf(document)?.meta)?.total),
};

const lever: Endpoint = {
  hasOwnHosts: false,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ token, address }) =>
    get(
      `https://api.${/(?:^|\.)eu\.lever\.co$/.test(hostOf(address)) ? 'eu.' : ''}lever.co/v0/postings/${encodeURIComponent(token)}?mode=json`,
    ),
  page: (document) => (Array.isArray(document) ? { rows: document.length, more: [] } : undefined),
};

const ashby: Endpoint = {
  hasOwnHosts: false,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ token }) => get(`https://api.ashbyhq.com/posting-api/job-board/${encodeURIComponent(token)}`),
  page: (document) => listed(document, 'jobs'),
};

const smartrecruitersUrl = (token: string): string =>
  `https://api.smartrecruiters.com/v1/companies/${encodeURIComponent(token)}/postings`;

const smartrecruiters: Endpoint = {
  hasOwnHosts: false,
  mayBeOneAnswer: false,
  accept: 'application/json',
  first: ({ token }) => get(`${smartrecruitersUrl(token)}?limit=${SMARTRECRUITERS_PAGE}&offset=0`),
  page(document, request, { token }) {
    const found = listed(document, 'content');
    const total = objectOf(document)?.totalFound;
    if (found === undefined || typeof total !== 'number') return undefined;
    const end = Number(new URL(request.url).searchParams.get('offset')) + found.rows;
    if (end >= total) return found;
    if (found.rows === 0) return { ...found, isCutShort: true };
    return { ...found, more: [get(`${smartrecruitersUrl(token)}?limit=${SMARTRECRUITERS_PAGE}&offset=${end}`)] };
  },
  detail(row, { token }) {
    const id = textOf(row.id);
    if (id === null || row.jobAd !== undefined) return undefined;
    return get(`${smartrecruitersUrl(token)}/${encodeURIComponent(id)}`);
  },
};

const workable: Endpoint = {
  hasOwnHosts: false,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ token }) =>
    get(`https://apply.workable.com/api/v1/widget/accounts/${encodeURIComponent(token)}?details=true`),
  page: (document) => listed(document, 'jobs'),
};

const recruitee: Endpoint = {
  hasOwnHosts: true,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ address }) => get(`https://${hostOf(address)}/api/offers/`),
  page: (document) => listed(document, 'offers'),
};

const teamtailor: Endpoint = {
  hasOwnHosts: true,
  mayBeOneAnswer: true,
  accept: 'application/json',
  first: ({ address }) => get(`https://${hostOf(address)}/jobs.json`),
  page(document, { url }) {
    const found = listed(document, 'items');
    const next = textOf(objectOf(document)?.next_url);
    if (found === undefined || next === null) return found;
    // A page on another host does not belong to this board.
    const following = URL.parse(next, url);
    if (following?.host !== hostOf(url)) return { ...found, isCutShort: true };
    return { ...found, more: [get(following.href)] };
  },
};

const workday: Endpoint = {
  hasOwnHosts: true,
  mayBeOneAnswer: false,
  accept: 'application/json',
  first: firstSearch,
  page: nextSearch,
  detail(row, board) {
    const path = textOf(row.externalPath);
    const place = workdayPlaceOf(board);
    if (path === null || !path.startsWith('/job/') || row.jobPostingInfo !== undefined) return undefined;
    return get(`https://${place.host}/wday/cxs/${place.tenant}/${place.site}${path}`);
  },
};

const jsonld: Endpoint = {
  hasOwnHosts: true,
  mayBeOneAnswer: true,
  hasPostingPages: true,
  accept: 'text/html',
  first: ({ address }) => get(address),
  page(document, { url }, { address }) {
    const { postings, pages, isCutShort } = listingOf(document, url);
    const isList = url === address;
    const own = pages.filter((page) => hostOf(page) === hostOf(address));
    const more = isList ? own.filter((page) => page !== url) : [];
    // A page without postings proves nothing: the site may have dropped the markup or moved to another host.
    if (isList && postings === 0 && more.length === 0) return undefined;
    // Nor does an empty page of a single posting, whether it says that the job is filled or redirects to the list.
    if (!isList && postings === 0) return { rows: 0, more: [], isCutShort: true };
    // Jobs on other hosts are listed too; as they are not fetched, they must not count as closed.
    return { rows: postings, more: more.map(get), isCutShort: isList && (isCutShort || own.length < pages.length) };
  },
};

const ENDPOINTS: Readonly<Record<BoardShape, Endpoint>> = {
  greenhouse,
  lever,
  ashby,
  smartrecruiters,
  workable,
  recruitee,
  teamtailor,
  workday,
  jsonld,
};

function sent({ method, url, body }: OwnRequest, shape: BoardShape, origins: BoardOrigins): BoardRequest {
  const { hasOwnHosts, accept } = ENDPOINTS[shape];
  return { method, url: replacedAddress(url, shape, hasOwnHosts, origins), body, accept };
}

/** Whether a board's feed may be one GET; if it was, a 304 to its validators means that the whole feed is unchanged. */
export const mayBeOneAnswer = ({ shape }: Pick<Board, 'shape'>): boolean => ENDPOINTS[shape].mayBeOneAnswer;

/** The host that serves a board, with its port; rates apply to each. */
export const askedHostOf = (board: Board, origins: BoardOrigins): string =>
  hostOf(firstStep(board, origins).request.url);

export function firstStep(board: Board, origins: BoardOrigins): Extract<FeedProgress, { kind: 'next' }> {
  const request = ENDPOINTS[board.shape].first(board);
  return {
    kind: 'next',
    step: {
      pages: 0,
      rows: 0,
      queue: [request],
      isCutShort: false,
      missing: 0,
      seen: new Set(),
      asked: new Set(),
      different: 0,
    },
    request: sent(request, board.shape, origins),
  };
}

/** The text of an answer as a document; a page gives its JSON-LD. undefined: it is no JSON. */
export function documentOf({ shape }: Pick<Board, 'shape'>, text: string): { readonly document: unknown } | undefined {
  if (ENDPOINTS[shape].accept === 'text/html') {
    const { document, hasNextPage } = pageContent(text);
    return { document: hasNextPage ? [...document, GOES_ON] : document };
  }
  const parsed = parsedJson(withoutByteOrderMark(text));
  return parsed.ok ? { document: parsed.value } : undefined;
}

/** @param document the parsed answer to the request of `step` (`documentOf`) */
export function stepAfter(board: Board, step: FeedStep, document: unknown, origins: BoardOrigins): FeedProgress {
  const [request, ...waiting] = step.queue;
  const found = ENDPOINTS[board.shape].page(document, request!, board);
  if (found === undefined) return { kind: 'broken', reason: `is no list of jobs as ${board.shape} gives it` };
  for (const key of found.keys ?? []) step.seen.add(key);
  step.asked.add(wordingOf(request!));
  const more = found.more.filter((one) => !step.asked.has(wordingOf(one)));
  return following(board, origins, {
    ...step,
    pages: step.pages + 1,
    rows: step.rows + found.rows,
    queue: [...more, ...waiting],
    isCutShort: step.isCutShort || found.isCutShort === true || more.length < found.more.length,
    different: Math.max(step.different, found.different ?? 0),
  });
}

/** Whether a board lists postings that each have a page, on its host or another. */
export const hasPostingPages = ({ shape }: Pick<Board, 'shape'>): boolean => ENDPOINTS[shape].hasPostingPages === true;

/** Asks for the page of a posting. */
export const postingRequest = (address: string, origins: BoardOrigins): BoardRequest =>
  sent(get(address), 'jsonld', origins);

/** Whether the page that took the feed from `step` to `progress` has postings or only names their pages. */
export function hasPostings({ shape }: Pick<Board, 'shape'>, step: FeedStep, progress: FeedProgress): boolean {
  if (!hasPostingPages({ shape }) || progress.kind === 'broken') return true;
  return (progress.kind === 'next' ? progress.step.rows : progress.rows) > step.rows;
}

/** Continues the feed after `step`'s page was missing (404, 410). @returns undefined for more than a single posting */
export function stepWithout(board: Board, step: FeedStep, origins: BoardOrigins): FeedProgress | undefined {
  if (step.pages === 0 || !hasPostingPages(board)) return undefined;
  const { missing, pages, queue } = step;
  return following(board, origins, { ...step, pages: pages + 1, queue: queue.slice(1), missing: missing + 1 });
}

/** What comes next: the first request of the queue, or the end. */
function following(board: Board, origins: BoardOrigins, step: FeedStep): FeedProgress {
  const { different, isCutShort, missing, pages, queue, rows, seen } = step;
  const next = queue[0];
  if (next !== undefined && pages < FEED_PAGES_MAX) {
    return { kind: 'next', step, request: sent(next, board.shape, origins) };
  }
  const partial = (reason: string): FeedProgress => ({ kind: 'partial', rows, reason });
  if (next !== undefined) return partial(`it has more than ${FEED_PAGES_MAX} pages`);
  if (missing > 0) return partial(`${missing} of the pages that it lists are not there`);
  if (isCutShort || seen.size < different) return partial('it has, or may have, more jobs than it lists');
  return { kind: 'complete', rows };
}

export interface StatedJobs {
  readonly jobs: number;
  /** More pages follow, and no answer states the total. */
  readonly isFirstPage: boolean;
}

/** How many jobs the board has: the total that the first answer states, else the number that it lists. */
export function statedJobs(board: Board, document: unknown): StatedJobs | undefined {
  const { page, first } = ENDPOINTS[board.shape];
  const found = page(document, first(board), board);
  if (found === undefined) return undefined;
  const answer = objectOf(document);
  const stated = [answer?.totalFound, answer?.total, objectOf(answer?.meta)?.total].find(
    (one) => typeof one === 'number',
  );
  // A page with markup names one page for each further posting.
  const named = hasPostingPages(board) ? found.more.length : 0;
  const goesOn = found.isCutShort === true || found.more.length > named;
  return {
    jobs: Math.max(found.rows, (stated as number | undefined) ?? 0, named),
    isFirstPage: stated === undefined && goesOn,
  };
}

/** The request for the description of a row; undefined if the list has it or no request is worth it. */
export function detailRequest(board: Board, row: SourceRecord, origins: BoardOrigins): BoardRequest | undefined {
  const request = ENDPOINTS[board.shape].detail?.(row, board);
  return request && sent(request, board.shape, origins);
}

/** Whether the list of a board lacks descriptions that can be asked for one by one. */
export const hasDetails = ({ shape }: Pick<Board, 'shape'>): boolean => ENDPOINTS[shape].detail !== undefined;

/**
 * The row with only the description from its detail: lists and details phrase other fields differently (places, working
 * time, addresses), which would change back and forth.
 */
export function withDescription(
  { shape }: Pick<Board, 'shape'>,
  row: SourceRecord,
  detail: SourceRecord,
): SourceRecord {
  if (shape !== 'workday') return { ...row, jobAd: detail.jobAd };
  return { ...row, jobPostingInfo: { jobDescription: objectOf(detail.jobPostingInfo)?.jobDescription } };
}
