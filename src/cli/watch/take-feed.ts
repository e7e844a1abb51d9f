/** Merges the pages of a board's feed into the history of a catalogue, by the rules of `import`. */
import { firstLineOf } from '../../base/failure.ts';
import { MIB } from '../../base/sizes.ts';
import { type Board, entryOf } from '../../ingest/boards/board.ts';
import { manifestOf } from '../../ingest/companies/manifest-words.ts';
import { InputError } from '../../ingest/input/input.ts';
import { Intake } from '../../ingest/intake.ts';
import type { Rejection } from '../../ingest/job-sink.ts';
import { shapeNamed } from '../../ingest/shapes/shapes.ts';
import type { SkillExtractor } from '../../ingest/skills/skills.ts';
import type { HistoryImport } from '../../storage/history/import.ts';
import type { FeedOutcome } from '../../storage/history/merge.ts';

export type TakenFeed =
  | { readonly kind: 'taken'; readonly feed: FeedOutcome; readonly refused: number }
  /** Far fewer rows than usual: the caller must undo the merge. */
  | { readonly kind: 'unhealthy'; readonly rows: number; readonly usualRows: number }
  /** A page is not what its endpoint returns: the caller must undo the merge. */
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface FeedToTake {
  readonly board: Board;
  readonly pages: readonly Uint8Array[];
  /** When the board was asked, milliseconds since the epoch. */
  readonly atMs: number;
  readonly isComplete: boolean;
  /** Ids of known jobs that are still listed although the pages lack them. */
  readonly standing?: readonly string[];
}

const NO_COUNTS = { rows: 0, new: 0, seen: 0, changed: 0, closed: 0, reopened: 0, hasNameless: false, refusal: null };

/**
 * Size of the pieces passed on, bytes, because the first one is copied and decoded separately to detect how a page is packed.
 */
const PIECE_BYTES = MIB;

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/**
 * Why content cannot be read, one line; undefined = another failure, such as one of the history. An exception of our
 * own code on foreign content fails one board, not the watch of all others.
 */
export function unreadableReason(failure: unknown): string | undefined {
  if (failure instanceof InputError) return failure.message;
  const isUnexpected = failure instanceof TypeError || failure instanceof RangeError;
  return isUnexpected ? `unexpected failure: ${firstLineOf(failure)}` : undefined;
}

/**
 * Stages and merges the feed in the transaction of `merging`; the caller commits or undoes it.
 * @throws HistoryError
 */
export async function takeFeed(
  merging: HistoryImport,
  { board, pages, atMs, isComplete, standing = [] }: FeedToTake,
  skills: SkillExtractor,
): Promise<TakenFeed> {
  const { shape: name } = board;
  const token = merging.tokenOf(name, board.token);
  const words = merging.rememberWords([]);
  let refused: Rejection | undefined;
  const intake = new Intake({
    sink: merging,
    skills,
    shape: shapeNamed(name),
    observedAtGiven: true,
    context: { observedAtMs: atMs, board: entryOf(board), manifest: manifestOf(words), token },
    namesFiles: pages.length > 1,
    nowMs: atMs,
    onRejection: (rejection) => {
      refused ??= rejection;
    },
    rejects: null,
    onProgress: () => {},
  });
  try {
    for (const [index, page] of pages.entries()) {
      const member = { name: `${name}:${token} page ${index + 1}`, fileName: `${token}.json`, bytes: pieces(page) };
      await intake.take(member);
    }
  } catch (error) {
    const reason = unreadableReason(error);
    if (reason === undefined) throw error;
    return { kind: 'unreadable', reason };
  }
  for (const id of standing) merging.addRefused(shapeNamed(name), token, id);
  let feed: FeedOutcome | undefined;
  merging.merge(isComplete, false, (outcome) => {
    feed = outcome;
  });
  if (feed === undefined && refused !== undefined) {
    const { place, field, reason } = refused;
    return { kind: 'unreadable', reason: `has no record that can be taken; ${place}: ${field} ${reason}` };
  }
  feed ??= { shape: name, board: token, ...NO_COUNTS };
  const { refusal, rows } = feed;
  if (refusal?.kind === 'unhealthy') return { kind: 'unhealthy', rows, usualRows: refusal.usualRows };
  return { kind: 'taken', feed, refused: intake.tally.rejected };
}
