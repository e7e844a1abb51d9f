/**
 * Descriptions of a board whose list has none, one request each, for jobs of which the catalogue has no description yet. They are
 * merged as partial feeds in which everything else is as the list has it, so that lists and details do not undo each other.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { FEED_BYTES_MAX } from '../../adapters/boards/limits.ts';
import type { Board } from '../../ingest/boards/board.ts';
import type { BoardRequest } from '../../ingest/boards/board-request.ts';
import { detailRequest, documentOf, hasDetails, withDescription } from '../../ingest/boards/endpoints.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import { objectOf, type SourceRecord } from '../../ingest/input/source-field.ts';
import { shapeNamed } from '../../ingest/shapes/shapes.ts';
import type { HistoryDatabase, Row } from '../../storage/history/database.ts';

/** Requests for descriptions in one visit: other boards of the host wait for them. The rest comes with later visits. */
export const DETAILS_MAX = 100;
/** Failures in a row after which a visit asks for no more descriptions. */
const FAILURES_MAX = 3;

interface Wanted {
  readonly row: SourceRecord;
  readonly request: BoardRequest;
}

/** The rows of a list whose jobs have no description in the catalogue. */
export function rowsWithout(
  history: HistoryDatabase,
  board: Board,
  pages: readonly Uint8Array[],
  { atMs, origins }: { readonly atMs: number; readonly origins: BoardOrigins },
): Wanted[] {
  if (!hasDetails(board)) return [];
  const shape = shapeNamed(board.shape);
  const { company, domain, address, token } = board;
  const context = { observedAtMs: atMs, board: { company, domain, url: address }, manifest: new Map(), token };
  const known = history.statement('SELECT 1 FROM job WHERE id = ? AND description_digest IS NOT NULL');
  const wanted: Wanted[] = [];
  for (const page of pages) {
    const found = shape.recordsOf(documentOf(board, new TextDecoder().decode(page))?.document);
    for (const record of found.ok ? found.records : []) {
      const row = objectOf(record);
      const request = row && detailRequest(board, row, origins);
      if (row === undefined || request === undefined) continue;
      const shaped = shape.nativeOf(row, { ...context, fileName: null });
      if (shaped.ok && (known.get(shaped.record.id) as Row | undefined) === undefined) wanted.push({ row, request });
    }
  }
  return wanted;
}

/** @returns a page of the list with the rows whose descriptions came, or null. Never rejects. */
export async function fetchDetails(
  board: Board,
  wanted: readonly Wanted[],
  client: BoardClient,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const rows: SourceRecord[] = [];
  let failures = 0;
  for (const { row, request } of wanted.slice(0, DETAILS_MAX)) {
    if (failures === FAILURES_MAX) break;
    const answer = await client.ask(request, { validators: null, bytesMax: FEED_BYTES_MAX, signal });
    if (signal.aborted) break;
    const document = answer.kind === 'page' ? documentOf(board, new TextDecoder().decode(answer.body)) : undefined;
    const detail = objectOf(document?.document);
    failures = detail === undefined ? failures + 1 : 0;
    if (detail !== undefined) rows.push(withDescription(board, row, detail));
  }
  return rows.length === 0 ? null : Buffer.from(JSON.stringify(rows));
}
