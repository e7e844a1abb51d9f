/** All pages of a board's feed, one after the other, as its endpoint leads from each to the next. */
import type { Board } from '../../ingest/boards/board.ts';
import { documentOf, type FeedProgress, firstStep, isOneAnswer, stepAfter } from '../../ingest/boards/endpoints.ts';
import type { Validators } from '../../ingest/boards/fetch-state.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import type { BoardClient, PageFailure } from './board-client.ts';
import { FEED_BYTES_MAX } from './limits.ts';

export type FetchedFeed =
  | {
      readonly kind: 'feed';
      readonly status: number;
      readonly pages: readonly Uint8Array[];
      /** Why it is not all that the board lists; null = every page came. */
      readonly partialReason: string | null;
      /** Of a feed of one answer. */
      readonly validators: Validators | null;
    }
  /** The feed is what it was when the validators were given. */
  | { readonly kind: 'unchanged'; readonly status: 304 }
  | PageFailure;

export interface FeedFetch {
  readonly client: BoardClient;
  readonly origins: BoardOrigins;
  /** Of the last feed that was taken whole; null = the feed is wanted in any case. */
  readonly validators: Validators | null;
  readonly signal: AbortSignal;
}

/** Never rejects. */
export async function fetchFeed(
  board: Board,
  { client, origins, validators, signal }: FeedFetch,
): Promise<FetchedFeed> {
  const pages: Uint8Array[] = [];
  const isOne = isOneAnswer(board);
  let bytesLeft = FEED_BYTES_MAX;
  let own: Validators | null = null;
  let progress: FeedProgress = firstStep(board, origins);
  while (progress.kind === 'next') {
    const answer = await client.ask(progress.request, {
      validators: isOne ? validators : null,
      bytesMax: bytesLeft,
      signal,
    });
    if (answer.kind !== 'page') return answer;
    const { body, status } = answer;
    bytesLeft -= body.length;
    pages.push(body);
    if (isOne) own = answer.validators;
    const document = documentOf(board, new TextDecoder().decode(body));
    if (document === undefined) return { kind: 'failed', status, reason: 'the answer is no JSON', retryAfterMs: null };
    progress = stepAfter(board, progress.step, document.document, origins);
    if (progress.kind === 'broken') {
      return { kind: 'failed', status, reason: `the answer ${progress.reason}`, retryAfterMs: null };
    }
  }
  const partialReason = progress.kind === 'partial' ? progress.reason : null;
  return { kind: 'feed', status: 200, pages, partialReason, validators: partialReason === null ? own : null };
}
