/** Reads rows of callbacks and their events. */
import type { BodyForm } from '../../../base/media-type.ts';
import { type Absent, EXPIRED, NOT_FOUND } from '../../../callback/callbacks.ts';
import { headOf, type InboxEvent, inboxEventOf } from '../../../callback/event.ts';
import type { EventId } from '../../../callback/identifier.ts';
import { TOMBSTONE_MS } from '../../../callback/limits.ts';
import type { Row } from '../connections.ts';

/** How the callback of a row ended; undefined while it is live. @param row with `expires_ms` and `now_ms`, or none */
export function endOf(row: Row | undefined): Absent | undefined {
  const expiresMs = row?.expires_ms as number | null | undefined;
  if (row === undefined || expiresMs === null || expiresMs === undefined) return NOT_FOUND;
  const leftMs = expiresMs - (row.now_ms as number);
  if (leftMs > 0) return undefined;
  return leftMs + TOMBSTONE_MS > 0 ? EXPIRED : NOT_FOUND;
}

export const formOf = ({ charset }: Row): BodyForm =>
  charset === null ? { kind: 'json' } : { kind: 'text', charset: charset as string };

export const headOfRow = (row: Row): string =>
  headOf(row.id as EventId, row.received_s as number, row.head_rest as string);

/** The event of a row; undefined for a row without one. A long event has no text. */
export function eventOf(row: Row): InboxEvent | undefined {
  if (row.id === null) return undefined;
  const event = { id: row.id as EventId, head: headOfRow(row), form: formOf(row) };
  return inboxEventOf(event, row.size as number, row.body as Uint8Array | null);
}
