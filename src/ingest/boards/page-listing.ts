/** The JobPostings of a page's JSON-LD, and the pages that its lists name. */
import { objectOf } from '../../base/json-value.ts';
import { listOf, type SourceRecord, textOf } from '../input/source-field.ts';
import { isJobPosting, nodesOf } from '../shapes/posting-ld.ts';

export interface PageListing {
  readonly postings: number;
  /** The first posting. */
  readonly first: SourceRecord | undefined;
  /** Absolute addresses that list entries name in place of a posting, distinct, in their order. */
  readonly pages: readonly string[];
  /** There are more: a list states more entries than it shows, or the page has a next page. */
  readonly isCutShort: boolean;
}

/** Marks a document whose page says that its list continues on another page. */
export const GOES_ON = Object.freeze({});

/**
 * @param document the parsed JSON-LD scripts of a page
 * @param base the page's address
 */
export function listingOf(document: unknown, base: string): PageListing {
  const postings: SourceRecord[] = [];
  const pages = new Set<string>();
  let isCutShort = false;
  for (const node of nodesOf(document)) {
    if (node === GOES_ON) isCutShort = true;
    if (isJobPosting(node)) postings.push(node);
    const stated = node['@type'] === 'ItemList' ? Number(textOf(node.numberOfItems) ?? 0) : 0;
    if (stated > listOf(node.itemListElement).length) isCutShort = true;
    const page =
      node['@type'] === 'ListItem' && objectOf(node.item) === undefined ? textOf(node.url ?? node.item) : null;
    if (page !== null && URL.canParse(page, base)) pages.add(new URL(page, base).href.replace(/#.*$/, ''));
  }
  return { postings: postings.length, first: postings[0], pages: [...pages], isCutShort };
}
