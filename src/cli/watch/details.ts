/**
 * Descriptions of a board whose list has none, one request each, for jobs of which the catalogue has no description yet. They are
 * merged as partial feeds in which everything else is as the list has it, so that lists and details do not undo each other.
 *
 * A job whose description did not come is asked for again later and later, after all those that were never asked for: a few
 * postings without a text keep no other from theirs.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { isGone } from '../../adapters/boards/feed-fetch.ts';
import { PAGE_BYTES_MAX } from '../../adapters/boards/limits.ts';
import type { Board } from '../../ingest/boards/board.ts';
import type { BoardRequest } from '../../ingest/boards/board-request.ts';
import { detailRequest, documentOf, hasDetails, withDescription } from '../../ingest/boards/endpoints.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import { objectOf, type SourceRecord } from '../../ingest/input/source-field.ts';
import { shapeNamed } from '../../ingest/shapes/shapes.ts';
import { nextDetailMs } from '../../ingest/watch/schedule.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { storedBoard } from '../../storage/history/stored-board.ts';

/** Requests for descriptions in one visit: other boards of the host wait for them. The rest comes with later visits. */
export const DETAILS_MAX = 100;
/** Bytes of these after which a visit asks for no more: over a hundred of the longest real postings, 200 KiB each. */
const DETAILS_BYTES_MAX = 32 * 1024 * 1024;
/** Failures in a row after which a visit asks for no more descriptions. */
const FAILURES_MAX = 3;

export interface Wanted {
  /** Of the job. */
  readonly id: string;
  readonly row: SourceRecord;
  readonly request: BoardRequest;
}

/** What the requests of one visit gave. */
export interface FoundDetails {
  /** A page of the list with the rows whose descriptions came; null: none came. */
  readonly page: Uint8Array | null;
  /** Jobs that were asked for, whatever came. */
  readonly asked: readonly string[];
  /** How long the host asked to be left alone, milliseconds; null: it did not. */
  readonly retryAfterMs: number | null;
}

/** The rows of a list whose jobs have no description in the catalogue and are to be asked for now, the most urgent first. */
export function rowsWithout(
  { history, tables }: { readonly history: HistoryDatabase; readonly tables: BoardTables },
  board: WatchedBoard,
  pages: readonly Uint8Array[],
  { atMs, origins }: { readonly atMs: number; readonly origins: BoardOrigins },
): Wanted[] {
  if (!hasDetails(board)) return [];
  const shape = shapeNamed(board.shape);
  const { company, domain, address } = board;
  const token = storedBoard(history, board.shape, board.token)?.token ?? board.token;
  const context = { observedAtMs: atMs, board: { company, domain, url: address }, manifest: new Map(), token };
  const known = history.statement('SELECT 1 FROM job WHERE id = ? AND description_digest IS NOT NULL');
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
      // A try from the future was made while the clock ran ahead.
      if (tried !== undefined && tried.triedMs <= atMs && atMs < nextDetailMs(tried)) continue;
      if (known.get(id) === undefined) wanted.set(id, { id, row, request });
    }
  }
  return [...wanted.values()].sort((a, b) => (tries.get(a.id)?.triedMs ?? 0) - (tries.get(b.id)?.triedMs ?? 0));
}

/**
 * Asks until all came, {@link DETAILS_MAX} were asked for, they are long, the host fails again and again, or it asks to be left
 * alone. Never rejects.
 * @param signal ends it between two requests as well
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
    // A posting that is gone says nothing about the next one, and neither does one without a text.
    const isFailure = detail === undefined && !(answer.kind === 'failed' && isGone(answer.status));
    failures = isFailure ? failures + 1 : 0;
    if (answer.kind === 'failed' && answer.isOfHost) ({ retryAfterMs } = answer);
  }
  return { page: rows.length === 0 ? null : Buffer.from(JSON.stringify(rows)), asked, retryAfterMs };
}
