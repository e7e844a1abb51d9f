/**
 * Fetches descriptions for a board whose list has none, one request each, for jobs without a description in the catalogue. They
 * are merged as partial feeds that repeat the list's other fields, so that lists and details do not undo each other.
 *
 * A job whose description did not come is retried with growing pauses, after all jobs never tried, so that a few
 * postings without text do not block the others.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { isGone } from '../../adapters/boards/feed-fetch.ts';
import { PAGE_BYTES_MAX } from '../../adapters/boards/limits.ts';
import { objectOf } from '../../base/json-value.ts';
import { MIB } from '../../base/sizes.ts';
import { type Board, entryOf } from '../../ingest/boards/board.ts';
import type { BoardRequest } from '../../ingest/boards/board-request.ts';
import { detailRequest, documentOf, hasDetails, withDescription } from '../../ingest/boards/endpoints.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import type { SourceRecord } from '../../ingest/input/source-field.ts';
import { shapeNamed } from '../../ingest/shapes/shapes.ts';
import { nextDetailMs } from '../../ingest/watch/schedule.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { storedBoard } from '../../storage/history/stored-board.ts';

/**
 * Most requests for descriptions in one visit, because other boards of the host wait for them. Later visits fetch the rest.
 */
export const DETAILS_MAX = 100;
/** Bytes of descriptions after which a visit stops: over a hundred of the longest real postings, 200 KiB each. */
const DETAILS_BYTES_MAX = 32 * MIB;
/** Failures in a row after which a visit requests no more descriptions. */
const FAILURES_MAX = 3;

export interface Wanted {
  /** Id of the job. */
  readonly id: string;
  readonly row: SourceRecord;
  readonly request: BoardRequest;
}

/** The results of one visit's requests. */
export interface FoundDetails {
  /** A page of the list with the rows whose descriptions came; null: none came. */
  readonly page: Uint8Array | null;
  /** Jobs whose descriptions were requested, whatever the result. */
  readonly asked: readonly string[];
  /** The pause that the host asked for, milliseconds; null: none. */
  readonly retryAfterMs: number | null;
}

/**
 * The rows of a list whose jobs lack a description in the catalogue and should be requested now, most urgent first.
 * @throws HistoryError
 */
export function rowsWithout(
  { history, tables }: { readonly history: HistoryDatabase; readonly tables: BoardTables },
  board: WatchedBoard,
  pages: readonly Uint8Array[],
  { atMs, origins }: { readonly atMs: number; readonly origins: BoardOrigins },
): Wanted[] {
  if (!hasDetails(board)) return [];
  const shape = shapeNamed(board.shape);
  const token = storedBoard(history, board.shape, board.token)?.token ?? board.token;
  const context = { observedAtMs: atMs, board: entryOf(board), manifest: new Map(), token };
  const isDescribed = (id: string): boolean =>
    history.row('SELECT 1 FROM job WHERE id = ? AND description_digest IS NOT NULL', id) !== undefined;
  const tries = tables.detailTries(board.name);
  const wanted = new Map<string, Wanted>();
  for (const page of pages) {
    const found = shape.recordsOf(documentOf(board, new TextDecoder().decode(page))?.document);
    for (const record of found.ok ? found.records : []) {
      const row = objectOf(record);
      const request = row && detailRequest(board, row, origins);
      if (row === undefined || request === undefined) continue;
      const shaped = shape.nativeOf(row, { ...context, fileName: null });
      if (!shaped.ok) continue;
      const { id } = shaped.record;
      const tried = tries.get(id);
      // A try in the future was made while the clock ran ahead, so it does not count.
      if (tried !== undefined && tried.triedMs <= atMs && atMs < nextDetailMs(tried)) continue;
      if (!isDescribed(id)) wanted.set(id, { id, row, request });
    }
  }
  return [...wanted.values()].sort((a, b) => (tries.get(a.id)?.triedMs ?? 0) - (tries.get(b.id)?.triedMs ?? 0));
}

/**
 * Requests descriptions until all came, {@link DETAILS_MAX} were requested, a bound of bytes or failures is reached, or
 * the host asks for a pause. Never rejects.
 * @param signal ends it between two requests too
 */
export async function fetchDetails(
  board: Board,
  wanted: readonly Wanted[],
  client: Pick<BoardClient, 'ask'>,
  signal: AbortSignal,
): Promise<FoundDetails> {
  const rows: SourceRecord[] = [];
  const asked: string[] = [];
  let retryAfterMs: number | null = null;
  let failures = 0;
  let bytesLeft = DETAILS_BYTES_MAX;
  for (const { id, row, request } of wanted.slice(0, DETAILS_MAX)) {
    if (failures === FAILURES_MAX || retryAfterMs !== null || bytesLeft <= 0) break;
    const answer = await client.ask(request, { validators: null, bytesMax: PAGE_BYTES_MAX, signal });
    if (signal.aborted) break;
    asked.push(id);
    if (answer.kind === 'page') bytesLeft -= answer.body.length;
    const document = answer.kind === 'page' ? documentOf(board, new TextDecoder().decode(answer.body)) : undefined;
    const detail = objectOf(document?.document);
    if (detail !== undefined) rows.push(withDescription(board, row, detail));
    // A removed posting, or one without text, says nothing about the next one.
    const isFailure = detail === undefined && !(answer.kind === 'failed' && isGone(answer.status));
    failures = isFailure ? failures + 1 : 0;
    if (answer.kind === 'failed' && answer.isOfHost) ({ retryAfterMs } = answer);
  }
  return { page: rows.length === 0 ? null : Buffer.from(JSON.stringify(rows)), asked, retryAfterMs };
}
