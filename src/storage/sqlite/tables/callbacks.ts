/** Callbacks and their events in the state file. The inbox reads long bodies back part by part; each part has a checksum. */
import { Buffer } from 'node:buffer';
import type { BodyForm } from '../../../base/media-type.ts';
import type { EventPart, EventRecord } from '../../../callback/event.ts';
import type { CallbackId, EventId } from '../../../callback/identifier.ts';
import type { CallbackRecord, LoadedCallback, LoadedEvent } from '../../../callback/inbox/event-store.ts';
import { EVENT_PART_BYTES } from '../../../callback/limits.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row } from '../connection.ts';
import type { Table } from './table.ts';

export const CALLBACKS = 'callbacks';

interface OfCallbacks {
  readonly table: typeof CALLBACKS;
}

export type CallbackOperation =
  | (OfCallbacks & { readonly kind: 'callback'; readonly callback: CallbackRecord })
  | (OfCallbacks & { readonly kind: 'event'; readonly callback: CallbackId; readonly event: EventRecord })
  | (OfCallbacks & { readonly kind: 'delete-callback'; readonly id: CallbackId })
  | (OfCallbacks & { readonly kind: 'expire-callback'; readonly id: CallbackId });

/** Asks for one part of an event; the answer is an {@link EventPart} or undefined. */
export interface EventQuery extends OfCallbacks {
  readonly callback: CallbackId;
  readonly eventId: EventId;
  readonly index: number;
}

const SCHEMA = `
  CREATE TABLE callback (
    id TEXT PRIMARY KEY, token_digest BLOB NOT NULL, expires_at_ms INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE event (
    serial INTEGER PRIMARY KEY, id TEXT NOT NULL, callback TEXT NOT NULL, received_at_seconds INTEGER NOT NULL,
    head TEXT NOT NULL, charset TEXT, is_inline INTEGER NOT NULL, bytes BLOB NOT NULL,
    checksum INTEGER NOT NULL, part_checksums BLOB NOT NULL
  );
  CREATE INDEX event_of_callback ON event (callback);
`;

/** Binds an empty body: Node 22 binds an empty array from another thread as null. */
const EMPTY = new Uint8Array(0);
const blobOf = (bytes: Uint8Array): Uint8Array => (bytes.length === 0 ? EMPTY : bytes);

/** Covers all of an event except its bytes; of those it covers the part checksums. */
function eventChecksum(callback: string, event: Omit<LoadedEvent, 'bytes'>, partChecksums: Uint8Array): number {
  const { id, receivedAtSeconds, head, form, isInline, sizeBytes } = event;
  const charset = form.kind === 'text' ? form.charset : '';
  const inline = isInline ? 1 : 0;
  return checksumOfFields(callback, id, receivedAtSeconds, head, form.kind, charset, inline, sizeBytes, partChecksums);
}

/** An empty body has one empty part. */
const partCountOf = (sizeBytes: number): number => Math.max(1, Math.ceil(sizeBytes / EVENT_PART_BYTES));

/** The checksum of each part, four bytes each, big-endian. */
function partChecksumsOf(bytes: Uint8Array): Buffer {
  const checksums = Buffer.alloc(4 * partCountOf(bytes.length));
  for (let index = 0; 4 * index < checksums.length; index++) {
    const start = index * EVENT_PART_BYTES;
    checksums.writeUInt32BE(checksumOfFields(bytes.subarray(start, start + EVENT_PART_BYTES)), 4 * index);
  }
  return checksums;
}

/** The form of text is its charset; JSON has none. */
const formOf = (charset: unknown): BodyForm =>
  charset === null ? { kind: 'json' } : { kind: 'text', charset: charset as string };

function applyCallback(connection: Connection, { id, tokenDigest, expiresAtMs }: CallbackRecord): void {
  connection.run(
    'INSERT INTO callback (id, token_digest, expires_at_ms, checksum) VALUES (?, ?, ?, ?)',
    id,
    tokenDigest,
    expiresAtMs,
    checksumOfFields(id, tokenDigest, expiresAtMs),
  );
}

function applyEvent(connection: Connection, callback: CallbackId, event: EventRecord): void {
  const { id, receivedAtSeconds, head, form, isInline, bytes } = event;
  const partChecksums = partChecksumsOf(bytes);
  connection.run(
    `INSERT INTO event (id, callback, received_at_seconds, head, charset, is_inline, bytes, checksum, part_checksums)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    callback,
    receivedAtSeconds,
    head,
    form.kind === 'text' ? form.charset : null,
    isInline ? 1 : 0,
    blobOf(bytes),
    eventChecksum(callback, { ...event, sizeBytes: bytes.length }, partChecksums),
    partChecksums,
  );
}

/** The columns of an event without its bytes. */
const EVENT_COLUMNS = `id, callback, received_at_seconds, head, charset, is_inline, length(bytes) AS size_bytes,
  checksum, part_checksums`;

/** @throws DamagedError unless the record is intact; its bytes are checked part by part */
function checkedEvent(callback: CallbackId, row: Row): Omit<LoadedEvent, 'bytes'> {
  const event: Omit<LoadedEvent, 'bytes'> = {
    id: row.id as EventId,
    receivedAtSeconds: row.received_at_seconds as number,
    head: row.head as string,
    form: formOf(row.charset),
    isInline: row.is_inline === 1,
    sizeBytes: row.size_bytes as number,
  };
  const partChecksums = row.part_checksums as Uint8Array;
  if (eventChecksum(callback, event, partChecksums) !== row.checksum) throw new DamagedError(`event ${event.id}`);
  return event;
}

/** @throws DamagedError unless the bytes, from part `index` on, are those that were written */
function checkParts({ id, part_checksums }: Row, index: number, bytes: Uint8Array): void {
  const found = partChecksumsOf(bytes);
  const written = Buffer.from(part_checksums as Uint8Array).subarray(4 * index, 4 * index + found.length);
  if (!found.equals(written)) throw new DamagedError(`event ${id}`);
}

/** @param row its `bytes` are null where they were not read. @throws DamagedError */
function loadedEvent(callback: CallbackId, row: Row): LoadedEvent {
  const bytes = row.bytes as Uint8Array | null;
  const event = checkedEvent(callback, row);
  if (bytes !== null) checkParts(row, 0, bytes);
  return { ...event, bytes };
}

/** @throws DamagedError */
export function readEvent(connection: Connection, { callback, eventId, index }: EventQuery): EventPart | undefined {
  const row = connection.row(
    `SELECT ${EVENT_COLUMNS}, substr(bytes, ?, ?) AS part FROM event WHERE callback = ? AND id = ?`,
    index * EVENT_PART_BYTES + 1,
    EVENT_PART_BYTES,
    callback,
    eventId,
  );
  if (row === undefined) return undefined;
  const { head, form, sizeBytes } = checkedEvent(row.callback as CallbackId, row);
  if (index >= partCountOf(sizeBytes)) return undefined;
  const bytes = (row.part as Uint8Array | null) ?? EMPTY; // SQLite's `substr` of no bytes is null
  checkParts(row, index, bytes);
  return { head, form, sizeBytes, bytes };
}

export const callbacks: Table<CallbackOperation, EventQuery> = {
  name: CALLBACKS,
  schema: SCHEMA,
  apply(connection, operation) {
    switch (operation.kind) {
      case 'callback':
        applyCallback(connection, operation.callback);
        return;
      case 'event':
        applyEvent(connection, operation.callback, operation.event);
        return;
      case 'delete-callback':
        connection.run('DELETE FROM event WHERE callback = ?', operation.id);
        connection.run('DELETE FROM callback WHERE id = ?', operation.id);
        return;
      case 'expire-callback':
        connection.run('DELETE FROM event WHERE callback = ?', operation.id);
        return;
      default:
        operation satisfies never;
    }
  },
  read: readEvent,
  bodyBytesOf: (operation) => (operation.kind === 'event' ? operation.event.bytes.length : 0),
  transferable(operation) {
    // The inbox still needs the bytes of an inline event.
    if (operation.kind !== 'event' || operation.event.isInline) return undefined;
    const { buffer, byteLength } = operation.event.bytes;
    // A view of a larger buffer shares that buffer with others.
    return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? buffer : undefined;
  },
  free(operation) {
    if (operation.kind !== 'event') return;
    const { buffer } = operation.event.bytes;
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  },
};

/** Events of one callback; the bytes of those that are not inline stay in the file. */
const EVENTS_OF = `
  SELECT ${EVENT_COLUMNS}, CASE WHEN is_inline THEN bytes END AS bytes FROM event WHERE callback = ? ORDER BY serial`;

/** Loads the callbacks with their events in order. Removes those that expired before `fromMs`. @throws DamagedError */
export function loadCallbacks(connection: Connection, fromMs: number): LoadedCallback[] {
  connection.inTransaction(() => {
    connection.run('DELETE FROM callback WHERE expires_at_ms < ?', fromMs);
    connection.run('DELETE FROM event WHERE callback NOT IN (SELECT id FROM callback)');
  });
  // Nearly all are over and have none.
  const haveEvents = new Set(connection.all('SELECT DISTINCT callback FROM event').map(({ callback }) => callback));
  return connection.all('SELECT id, token_digest, expires_at_ms, checksum FROM callback').map((row) => {
    const id = row.id as CallbackId;
    const tokenDigest = row.token_digest as Uint8Array;
    const expiresAtMs = row.expires_at_ms as number;
    if (checksumOfFields(id, tokenDigest, expiresAtMs) !== row.checksum) throw new DamagedError(`callback ${id}`);
    const rows = haveEvents.has(id) ? connection.rows(EVENTS_OF, id) : [];
    const events = rows.map((found) => loadedEvent(id, found));
    return { callback: { id, tokenDigest, expiresAtMs }, events };
  });
}
