/**
 * Stores a group of events, at most one for each callback, in one statement; their bodies travel as one binary value.
 */
import { Buffer } from 'node:buffer';
import type { BodyForm } from '../../../base/media-type.ts';
import { type Absent, FULL, NOT_FOUND } from '../../../callback/callbacks.ts';
import type { CallbackId, EventId } from '../../../callback/identifier.ts';
import type { Row } from '../connections.ts';
import type { Database } from '../database.ts';
import { endOf } from './rows.ts';
import { APPEND } from './statements.ts';

export interface NewEvent {
  readonly callbackId: CallbackId;
  readonly id: EventId;
  /** The part of its head that follows the time of receipt. */
  readonly rest: string;
  readonly form: BodyForm;
  readonly bytes: Uint8Array;
}

export type Appended =
  /** `receivedSeconds` null: an earlier try of this statement, whose answer was lost, stored it. */
  | { readonly kind: 'stored'; readonly seq: number; readonly receivedSeconds: number | null }
  | { readonly kind: 'full' }
  | Absent;

function appendedOf(row: Row | undefined): Appended {
  if (row === undefined) return NOT_FOUND;
  if (row.seq !== null) {
    return { kind: 'stored', seq: row.seq as number, receivedSeconds: row.received_s as number | null };
  }
  return endOf(row) ?? FULL;
}

/** @param events of distinct callbacks, sorted by their ids */
export async function appendEvents(database: Database, events: readonly NewEvent[]): Promise<Appended[]> {
  let start = 1;
  const starts = events.map(({ bytes }) => {
    const its = start;
    start += bytes.length;
    return its;
  });
  const values = [
    events.map(({ callbackId }) => callbackId),
    events.map(({ id }) => id),
    events.map(({ rest }) => rest),
    events.map(({ form }) => (form.kind === 'json' ? null : form.charset)),
    starts,
    events.map(({ bytes }) => bytes.length),
    Buffer.concat(events.map(({ bytes }) => bytes)),
  ];
  const rows = await database.run({ ...APPEND, values });
  const byId = new Map(rows.map((row) => [row.callback_id as CallbackId, row]));
  return events.map(({ callbackId }) => appendedOf(byId.get(callbackId)));
}
