/**
 * The paging of Workday's job search. It returns at most 20 postings a page. Many tenants count to 2000 and then start
 * over; others state larger totals, and some of those can be paged through. So a search of 2000 or more is asked again
 * for each value of one of its facets, which its first page lists with their counts. A posting without that facet is in
 * no part, and one with two of its values is in two: the feed is whole only when as many distinct postings came as the
 * unsplit search states. A total of 2000 may mean more, so such a feed is never whole. Only the first page of a search
 * states the total reliably (later ones of some tenants say 0), so later requests carry it along.
 */
import { objectOf } from '../../base/json-value.ts';
import { listOf, textOf } from '../input/source-field.ts';
import type { Board } from './board.ts';
import type { OwnRequest, PageFound } from './board-request.ts';

const PAGE_ROWS = 20;
/** The total that tenants state when they count no further. */
const TOTAL_MAX = 2000;

/** Host, tenant and site of a Workday board, from its token and address. */
export function workdayPlaceOf({ token, address }: Board): { host: string; tenant: string; site: string } {
  const slash = token.indexOf('/');
  return { host: new URL(address).host, tenant: token.slice(0, slash), site: token.slice(slash + 1) };
}

interface Search {
  /** Facet and value that the search is narrowed to. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
  readonly offset: number;
}

function searchOf(board: Board, { facets, offset }: Search, total?: number): OwnRequest {
  const { host, tenant, site } = workdayPlaceOf(board);
  return {
    method: 'POST',
    url: `https://${host}/wday/cxs/${tenant}/${site}/jobs`,
    body: JSON.stringify({ appliedFacets: facets, limit: PAGE_ROWS, offset, searchText: '' }),
    ...(total === undefined ? {} : { total }),
  };
}

export const firstSearch = (board: Board): OwnRequest => searchOf(board, { facets: {}, offset: 0 });

/** Depth to which groups of facets are read; real ones hold facets and no further groups. */
const GROUP_DEPTH_MAX = 8;

/** Facets of an answer, those in groups included: name and values with their counts. */
function facetsOf(facets: unknown, depth = 0): { name: string; values: { id: string; count: number }[] }[] {
  if (depth > GROUP_DEPTH_MAX) return [];
  return listOf(facets).flatMap((item) => {
    const facet = objectOf(item);
    const values = listOf(facet?.values).map((value) => objectOf(value) ?? {});
    const grouped = facetsOf(
      values.filter(({ facetParameter }) => facetParameter !== undefined),
      depth + 1,
    );
    const name = textOf(facet?.facetParameter);
    const counted = values.flatMap(({ id, count }) =>
      typeof id === 'string' && typeof count === 'number' ? [{ id, count }] : [],
    );
    return [...(name !== null && counted.length > 0 ? [{ name, values: counted }] : []), ...grouped];
  });
}

/**
 * Splits a search that is too long: by the facet whose parts add up to the total, else by the one that covers most with
 * parts that are short enough. None if no facet covers as much as the search itself returns.
 */
function splitSearches(board: Board, facets: unknown, total: number): OwnRequest[] {
  const usable = facetsOf(facets)
    .filter(({ values }) => values.every(({ count }) => count < TOTAL_MAX))
    .map((facet) => ({ ...facet, covered: facet.values.reduce((sum, { count }) => sum + count, 0) }))
    .filter(({ covered }) => covered >= TOTAL_MAX)
    .sort(
      (a, b) =>
        Number(b.covered === total) - Number(a.covered === total) ||
        b.covered - a.covered ||
        a.values.length - b.values.length,
    );
  const best = usable[0];
  if (best === undefined) return [];
  return best.values.map(({ id }) => searchOf(board, { facets: { [best.name]: [id] }, offset: 0 }));
}

/** The key that identifies a posting in a search. */
const keyOf = (posting: unknown): string => textOf(objectOf(posting)?.externalPath) ?? JSON.stringify(posting);

/** The pages after `request`: of the same search, or of the searches it is split into. */
export function nextSearch(document: unknown, request: OwnRequest, board: Board): PageFound | undefined {
  const answer = objectOf(document);
  const postings = answer?.jobPostings;
  if (!Array.isArray(postings)) return undefined;
  const { appliedFacets, offset } = JSON.parse(request.body!) as { appliedFacets: Search['facets']; offset: number };
  const total = request.total ?? answer?.total;
  if (typeof total !== 'number') return undefined;
  const rows = postings.length;
  const isPart = Object.keys(appliedFacets).length > 0;
  const found = {
    rows,
    keys: postings.map(keyOf),
    isCutShort: isPart ? total >= TOTAL_MAX : total === TOTAL_MAX,
    different: isPart || total < TOTAL_MAX ? 0 : total,
  };
  if (offset === 0 && !isPart && total >= TOTAL_MAX) {
    const more = splitSearches(board, answer?.facets, total);
    if (more.length > 0) return { ...found, more };
  }
  const end = offset + rows;
  if (end >= total) return { ...found, more: [] };
  if (rows === 0) return { ...found, more: [], isCutShort: true };
  return { ...found, more: [searchOf(board, { facets: appliedFacets, offset: end }, total)] };
}
