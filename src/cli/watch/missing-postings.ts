/**
 * Checks jobs that a careers page with markup no longer lists. Such a page may show only its first jobs without saying
 * so, so a missing entry does not prove that a job is gone; the job's own page does, if it is missing (404, 410) or has
 * no posting. The list is complete only when each missing job is known to be gone or still open.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { type FetchedFeed, isGone } from '../../adapters/boards/feed-fetch.ts';
import type { FeedClaim } from '../../adapters/boards/feed-memory.ts';
import { PAGE_BYTES_MAX } from '../../adapters/boards/limits.ts';
import { uriOf } from '../../base/parsed-url.ts';
import { entryOf } from '../../ingest/boards/board.ts';
import { hasPostingPages, postingRequest } from '../../ingest/boards/endpoints.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import { pageContent } from '../../ingest/input/page-content.ts';
import { jsonldShape } from '../../ingest/shapes/jsonld.ts';
import { NO_ENVELOPE } from '../../ingest/shapes/shape.ts';
import type { WatchedBoard } from '../../storage/history/board-tables.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { storedBoard } from '../../storage/history/stored-board.ts';

/**
 * Most job pages that one visit requests, because other boards of the host wait for them. With more missing jobs the
 * list stays partial.
 */
export const MISSING_MAX = 100;

interface Posting {
  readonly id: string;
  readonly address: string;
  /** Its validity has ended. */
  readonly isClosed: boolean;
}

type Feed = Extract<FetchedFeed, { kind: 'feed' }>;

export interface MissingSettings {
  readonly history: HistoryDatabase;
  readonly origins: BoardOrigins;
  readonly client: Pick<BoardClient, 'ask'>;
  readonly memory: FeedClaim;
  readonly signal: AbortSignal;
  /** When the board was asked, milliseconds since the epoch. */
  readonly atMs: number;
}

/** An address in one spelling, without what names a place on the page. */
const plain = (address: string): string => {
  const url = new URL(uriOf(address));
  url.hash = '';
  return url.href;
};

/** The postings of a page as jobs of the catalogue. */
function postingsOn(page: Uint8Array, board: WatchedBoard, atMs: number): Posting[] {
  const { document, url } = pageContent(new TextDecoder().decode(page));
  const found = jsonldShape.recordsOf(document);
  const records = found.ok ? found.records : [];
  const context = {
    ...{ fileName: null, observedAtMs: atMs, board: entryOf(board), manifest: new Map(), token: board.token },
    envelope: { ...NO_ENVELOPE, url: records.length === 1 ? url : null },
  };
  return records.flatMap((record) => {
    const shaped = jsonldShape.nativeOf(record, context);
    if (!shaped.ok) return [];
    const { id, source_url: sourceUrl, status } = shaped.record;
    return [{ id, address: plain(sourceUrl), isClosed: status === 'closed' }];
  });
}

/** Ids of the open jobs that no page of the feed has, by the address of their own pages. @throws HistoryError */
function missingFrom({ pages }: Feed, board: WatchedBoard, { history, atMs }: MissingSettings): Map<string, string[]> {
  const serial = storedBoard(history, board.shape, board.token)?.serial;
  if (serial === undefined) return new Map();
  const listed = pages.flatMap((page) => postingsOn(page, board, atMs));
  const ids = new Set(listed.map(({ id }) => id));
  // If the job's own page was read as part of the feed, it is known to lack the job.
  const read = new Set([plain(board.address), ...listed.map(({ address }) => address)]);
  const missing = new Map<string, string[]>();
  const sql = 'SELECT id, source_url FROM job WHERE board = ? AND closed_ms IS NULL';
  for (const row of history.each(sql, serial)) {
    const id = row.id as string;
    const page = plain(row.source_url as string);
    if (ids.has(id) || read.has(page)) continue;
    missing.set(page, [...(missing.get(page) ?? []), id]);
  }
  return missing;
}

/**
 * The feed plus the missing jobs that their own pages still have; partial if the status of any is unknown.
 * @throws HistoryError
 */
export async function withStanding(feed: Feed, board: WatchedBoard, settings: MissingSettings): Promise<FetchedFeed> {
  if (!hasPostingPages(board) || feed.partialReason !== null) return feed;
  const { atMs, client, memory, origins, signal } = settings;
  const missing = missingFrom(feed, board, settings);
  if (missing.size === 0) return feed;
  // The validators cover the list, but not the other pages.
  const asked: Feed = { ...feed, validators: null };
  if (missing.size > MISSING_MAX) {
    return {
      ...asked,
      partialReason: `${missing.size} known jobs are not in its list, which may be its first ones only`,
    };
  }
  const standing: string[] = [];
  for (const [page, ids] of missing) {
    const request = postingRequest(page, origins);
    const answer = await client.ask(request, { validators: null, bytesMax: PAGE_BYTES_MAX, memory, signal });
    if (answer.kind === 'page') {
      const postings = postingsOn(answer.body, board, atMs).filter(({ isClosed }) => !isClosed);
      memory.giveBack(answer.body.length);
      // A page at the job's address with exactly one posting still is the job's, even with another id or address; a
      // list that it redirects to is not.
      const isOwn = answer.url === request.url && postings.length === 1;
      const isThere = (id: string): boolean =>
        isOwn || postings.some((posting) => posting.id === id || posting.address === page);
      standing.push(...ids.filter(isThere));
    } else if (answer.kind === 'failed' && answer.isOfHost) {
      return { ...answer, isGone: false };
    } else if (answer.kind !== 'failed' || !isGone(answer.status)) {
      const reason = answer.kind === 'failed' ? answer.reason : 'no answer';
      return {
        ...asked,
        standing,
        partialReason: `a known job is not in its list, and its page cannot be read: ${reason}`,
      };
    }
  }
  return { ...asked, standing };
}
