/** Fetches all pages of a board's feed in turn, as its endpoint leads from each to the next. */
import type { Board } from '../../ingest/boards/board.ts';
import type { BoardRequest } from '../../ingest/boards/board-request.ts';
import {
  documentOf,
  type FeedProgress,
  type FeedStep,
  firstStep,
  hasPostings,
  mayBeOneAnswer,
  stepAfter,
  stepWithout,
} from '../../ingest/boards/endpoints.ts';
import type { Validators } from '../../ingest/boards/fetch-state.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import type { BoardClient, PageFailure } from './board-client.ts';
import type { FeedClaim } from './feed-memory.ts';
import { FEED_BYTES_MAX } from './limits.ts';

export type FetchedFeed =
  | {
      readonly kind: 'feed';
      readonly status: number;
      /** Those with postings. */
      readonly pages: readonly Uint8Array[];
      /** Why it is only part of what the board lists; null = every page came. */
      readonly partialReason: string | null;
      /** Ids of known jobs that are still listed although the pages lack them. */
      readonly standing: readonly string[];
      /** Validators of a feed that is one answer. */
      readonly validators: Validators | null;
    }
  /** The feed has not changed since the validators were given. */
  | { readonly kind: 'unchanged'; readonly status: 304 }
  | FeedFailure;

export interface FeedFailure extends PageFailure {
  /** The board's own address is no longer there. */
  readonly isGone: boolean;
}

export interface FeedFetch {
  readonly client: BoardClient;
  readonly origins: BoardOrigins;
  /** Validators of the last feed that was taken whole; null = fetch the feed in any case. */
  readonly validators: Validators | null;
  readonly signal: AbortSignal;
  /** What holds the pages. */
  readonly memory?: FeedClaim;
}

/** Whether the resource no longer exists (RFC 9110 §15.5). @param status null: there was no answer */
export const isGone = (status: number | null): boolean => status === 404 || status === 410;

/** @param reason completes "the answer ..." */
const unusable = (status: number, reason: string): FeedFailure => ({
  ...{ kind: 'failed', status, reason: `the answer ${reason}` },
  ...{ retryAfterMs: null, isOfHost: false, isGone: false },
});

/** Never rejects. */
export async function fetchFeed(
  board: Board,
  { client, memory, origins, validators, signal }: FeedFetch,
): Promise<FetchedFeed> {
  const pages: Uint8Array[] = [];
  let answers = 0;
  const isConditional = mayBeOneAnswer(board);
  let bytesLeft = FEED_BYTES_MAX;
  let own: Validators | null = null;
  let progress: FeedProgress = firstStep(board, origins);
  while (progress.kind === 'next') {
    const { request, step }: { request: BoardRequest; step: FeedStep } = progress;
    const isFirst = step.pages === 0;
    const answer = await client.ask(request, {
      validators: isFirst && isConditional ? validators : null,
      bytesMax: bytesLeft,
      signal,
      ...(memory && { memory }),
    });
    if (answer.kind === 'unchanged') return answer;
    if (answer.kind === 'failed') {
      const without: FeedProgress | undefined = isGone(answer.status) ? stepWithout(board, step, origins) : undefined;
      if (without === undefined) return { ...answer, isGone: isFirst && isGone(answer.status) };
      progress = without;
      continue;
    }
    const { body, status } = answer;
    bytesLeft -= body.length;
    answers++;
    if (isFirst) own = answer.validators;
    const document = documentOf(board, new TextDecoder().decode(body));
    if (document === undefined) return unusable(status, 'is no JSON');
    progress = stepAfter(board, step, document.document, origins);
    if (progress.kind === 'broken') return unusable(status, progress.reason);
    if (hasPostings(board, step, progress)) pages.push(body);
  }
  const partialReason = progress.kind === 'partial' ? progress.reason : null;
  // The validators of the first of several pages say nothing about the other pages.
  const isOne = isConditional && answers === 1 && partialReason === null;
  return { kind: 'feed', status: 200, pages, partialReason, standing: [], validators: isOne ? own : null };
}
