/**
 * The state file: one SQLite database in WAL mode, written by one connection. Everything is synchronous here; the writer
 * thread owns an instance, and the start reads through another before that.
 *
 * Tables: `pending`, settlements under way with what a repeat needs; `used`, authorizations that ended and may not be used
 * again (records.ts); `spent`, the play ledger's sums; `callback` and `event`; `meta`. Payments are numbered by the caller,
 * ascending, and memory knows their keys: no index on random digests, so a commit touches the ends of two tables.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { EventRecord } from '../../callback/event.ts';
import type { CallbackId, EventId } from '../../callback/identifier.ts';
import type { LoadedCallback, LoadedEvent } from '../../callback/inbox/store.ts';
import type { BodyForm } from '../../callback/media-type.ts';
import { orderOfText } from '../../payment/protocol/order.ts';
import type { RecordedCase } from '../../payment/reservations.ts';
import type { UsedAuthorization } from '../../payment/used-authorizations.ts';
import type { BatchResult, DatabaseOptions, Fault, Operation, RefusedOperation } from './operations.ts';
import { checksumOfFields, DamagedError, endOfRecord, endRecord } from './records.ts';

/** 1 had keys of Keccak-256 in `used`, 2 has them of SHA-256. */
export const FORMAT_VERSION = 2;
/** In `meta`: what ends before it may have been used without a record of it. */
export const USED_BEFORE = 'used_before_seconds';
/** "pgst", so that `file` and SQLite's own tools can tell whose it is. */
export const APPLICATION_ID = 0x70677374;

/**
 * Pages of log after which the log is carried over into the file: 16 MB. Larger than SQLite's own 4 MB, since webhook
 * bodies fill it fast and each carrying over costs two syncs; small enough to be read back in some 20 ms at start.
 */
const CHECKPOINT_PAGES = 4096;
/** Somebody else may look into the file (a backup, the sqlite3 shell); commits wait for them this long. */
const BUSY_MS = 2000;
const PROBE_BYTES = 65_536;

const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE pending (
    serial INTEGER PRIMARY KEY, is_play INTEGER NOT NULL, payer TEXT NOT NULL, value INTEGER NOT NULL,
    "transaction" TEXT NOT NULL, terms TEXT NOT NULL, checksum INTEGER NOT NULL
  );
  CREATE TABLE used (serial INTEGER PRIMARY KEY, record BLOB NOT NULL);
  CREATE TABLE spent (payer TEXT PRIMARY KEY, atomic INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE callback (
    id TEXT PRIMARY KEY, token_digest BLOB NOT NULL, expires_at_ms INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE event (
    serial INTEGER PRIMARY KEY, id TEXT NOT NULL, callback TEXT NOT NULL, received_at_seconds INTEGER NOT NULL,
    head TEXT NOT NULL, charset TEXT, is_inline INTEGER NOT NULL, bytes BLOB NOT NULL,
    checksum INTEGER NOT NULL, body_checksum INTEGER NOT NULL
  );
  CREATE INDEX event_of_callback ON event (callback);
  CREATE TABLE probe (filler BLOB);
`;

type Row = Record<string, unknown>;

/** SQLite's result codes by their lowest byte (sqlite.org/rescode.html). */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** The result code of a failure of node:sqlite, or undefined for any other. */
function codeOf(failure: unknown): number | undefined {
  const { errcode } = (failure ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

const textOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));

/** True for a file that is not what was written. */
export function isDamage(failure: unknown): boolean {
  if (failure instanceof DamagedError) return true;
  const code = codeOf(failure);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** After these nothing was written, and trying again is safe. */
const HARMLESS: ReadonlySet<number | undefined> = new Set([BUSY, LOCKED, READ_ONLY, FULL, CANNOT_OPEN]);

/**
 * The fault of one operation and not of the disk: SQLITE_ERROR, TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE, or no result
 * code at all. Such an operation must not take those of other customers with it, nor end the writing.
 */
const OF_THE_OPERATION: ReadonlySet<number | undefined> = new Set([1, 18, 19, 20, 21, 25, undefined]);

/** Node 22 binds an empty array as null once it has crossed to another thread. */
const EMPTY = new Uint8Array(0);
const blobOf = (bytes: Uint8Array): Uint8Array => (bytes.length === 0 ? EMPTY : bytes);

function eventChecksum(callback: string, event: Omit<LoadedEvent, 'bytes'>): number {
  const { id, receivedAtSeconds, head, form, isInline } = event;
  const charset = form.kind === 'text' ? form.charset : '';
  return checksumOfFields(callback, id, receivedAtSeconds, head, form.kind, charset, isInline ? 1 : 0);
}

/** A text's form is its charset; JSON has none. */
const formOf = (charset: unknown): BodyForm =>
  charset === null ? { kind: 'json' } : { kind: 'text', charset: charset as string };

/** The tables as the file describes them: a bit of a column's name is in no page's structure, so no check of SQLite sees it. */
function tablesOf(database: DatabaseSync): string {
  return JSON.stringify(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all());
}

function tablesMade(): string {
  const made = new DatabaseSync(':memory:');
  made.exec(SCHEMA);
  const tables = tablesOf(made);
  made.close();
  return tables;
}

export class StateDatabase {
  readonly #database: DatabaseSync;
  readonly #commitDelayMs: number;
  readonly #statements = new Map<string, StatementSync>();

  /** Makes the file if there is none. @throws what node:sqlite throws; DamagedError for a file of somebody else */
  constructor({ path, sync, commitDelayMs = 0, pageCountMax }: DatabaseOptions) {
    this.#commitDelayMs = commitDelayMs;
    this.#database = new DatabaseSync(path);
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      const version = this.#pragma('user_version');
      if (version !== 0 && this.#pragma('application_id') !== APPLICATION_ID) {
        throw new DamagedError('it is not a state file');
      }
      if (version > FORMAT_VERSION) throw new DamagedError(`its format ${version} is newer than this program`);
      this.#database.exec('PRAGMA journal_mode = WAL');
      this.#database.exec(`PRAGMA synchronous = ${sync}`);
      this.#database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      if (pageCountMax !== undefined) this.limitPages(pageCountMax);
      if (version === 0) {
        this.#database.exec(
          `BEGIN IMMEDIATE; ${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}; COMMIT`,
        );
      }
    } catch (failure) {
      this.#database.close();
      throw failure;
    }
  }

  /**
   * Takes a file of an earlier format over, and says whether it was one. Its used authorizations have keys that cannot be
   * made anew, so they give way to refusing whatever ends before `usedBeforeSeconds`; all else stays.
   */
  upgrade(usedBeforeSeconds: number): boolean {
    if (this.#pragma('user_version') === FORMAT_VERSION) return false;
    this.#inTransaction(() => {
      this.#run('DELETE FROM used');
      this.setMeta(USED_BEFORE, Math.max(this.meta(USED_BEFORE), usedBeforeSeconds));
      this.#database.exec(`PRAGMA user_version = ${FORMAT_VERSION}`);
    });
    return true;
  }

  /** Carries the log over into the file, if nobody else has it open. */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /**
   * The whole check and not the quick one, which passes an index that lost an event of a callback; there is one index.
   * @throws DamagedError when the pages do not hang together, or the tables are not those that were made
   */
  check(): void {
    if (tablesOf(this.#database) !== tablesMade()) throw new DamagedError('its tables are not those that were made');
    const found = this.#database.prepare('PRAGMA integrity_check(1)').get() as Row;
    const verdict = Object.values(found)[0];
    if (verdict !== 'ok') throw new DamagedError(String(verdict).split('\n')[0]);
  }

  /** For tests: the file cannot grow past so many pages. */
  limitPages(pageCountMax: number): void {
    this.#database.exec(`PRAGMA max_page_count = ${pageCountMax}`);
  }

  /** All of the batch or nothing of it, but for operations that are refused for themselves. Never throws. */
  apply(operations: readonly Operation[]): BatchResult {
    return this.#tryToApply(operations, false);
  }

  #tryToApply(operations: readonly Operation[], isOneByOne: boolean): BatchResult {
    let isCommitting = false;
    const refused: RefusedOperation[] = [];
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const [index, operation] of operations.entries()) {
        if (!isOneByOne) {
          this.#apply(operation);
          continue;
        }
        const detail = this.#refusalOf(operation);
        if (detail !== undefined) refused.push({ index, detail });
      }
      isCommitting = true;
      this.#database.exec('COMMIT');
      if (this.#commitDelayMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, this.#commitDelayMs);
      return { kind: 'done', refused };
    } catch (failure) {
      const fault = this.#faultOf(failure, isCommitting);
      const isOfOne = !isOneByOne && !isCommitting && OF_THE_OPERATION.has(codeOf(failure)) && fault.kind === 'refused';
      return isOfOne ? this.#tryToApply(operations, true) : fault;
    }
  }

  /** Applies it in the open transaction. Why it was undone if the fault is its own; throws any other. */
  #refusalOf(operation: Operation): string | undefined {
    this.#database.exec('SAVEPOINT one');
    try {
      this.#apply(operation);
    } catch (failure) {
      if (!OF_THE_OPERATION.has(codeOf(failure)) || !this.#database.isTransaction) throw failure;
      this.#database.exec('ROLLBACK TO one; RELEASE one');
      return `${operation.kind}: ${textOf(failure)}`;
    }
    this.#database.exec('RELEASE one');
    return undefined;
  }

  #faultOf(failure: unknown, isCommitting: boolean): Fault {
    const code = codeOf(failure);
    let detail = textOf(failure);
    let isOpen = this.#database.isTransaction;
    try {
      if (isOpen) this.#database.exec('ROLLBACK');
      isOpen = false;
    } catch (second) {
      detail += `; then ${textOf(second)}`;
    }
    const isHarmless = !isOpen && (HARMLESS.has(code) || (OF_THE_OPERATION.has(code) && !isCommitting));
    if (isHarmless) return { kind: 'refused', detail };
    return { kind: 'broken', detail, isInDoubt: isCommitting };
  }

  #apply(operation: Operation): void {
    switch (operation.kind) {
      case 'intent': {
        const { serial, isPlay, payer, valueAtomic, order } = operation;
        const checksum = checksumOfFields(serial, isPlay ? 1 : 0, payer, String(valueAtomic), order);
        this.#run(
          `INSERT INTO pending (serial, is_play, payer, value, "transaction", terms, checksum) VALUES (?, ?, ?, ?, '', ?, ?)`,
          serial,
          isPlay ? 1 : 0,
          payer,
          valueAtomic,
          order,
          checksum,
        );
        return;
      }
      case 'unknown':
        this.#runOnOne(
          'UPDATE pending SET "transaction" = ? WHERE serial = ?',
          operation.transaction,
          operation.serial,
        );
        return;
      case 'end': {
        const { serial, end } = operation;
        if (end.kind === 'settled') {
          this.#run(
            `INSERT INTO spent (payer, atomic) SELECT payer, value FROM pending WHERE serial = ? AND is_play = 1
             ON CONFLICT (payer) DO UPDATE SET atomic = atomic + excluded.atomic`,
            serial,
          );
        }
        this.#runOnOne('DELETE FROM pending WHERE serial = ?', serial);
        this.#run('INSERT INTO used (serial, record) VALUES (?, ?)', serial, endRecord(serial, end));
        return;
      }
      case 'release':
        this.#runOnOne('DELETE FROM pending WHERE serial = ?', operation.serial);
        return;
      case 'forget':
        for (const serial of operation.serials) this.#run('DELETE FROM used WHERE serial = ?', serial);
        return;
      case 'callback': {
        const { id, tokenDigest, expiresAtMs } = operation.callback;
        this.#run(
          'INSERT INTO callback (id, token_digest, expires_at_ms, checksum) VALUES (?, ?, ?, ?)',
          id,
          tokenDigest,
          expiresAtMs,
          checksumOfFields(id, tokenDigest, expiresAtMs),
        );
        return;
      }
      case 'event': {
        const { callback, event } = operation;
        const { id, receivedAtSeconds, head, form, isInline, bytes } = event;
        this.#run(
          `INSERT INTO event (id, callback, received_at_seconds, head, charset, is_inline, bytes, checksum, body_checksum)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          id,
          callback,
          receivedAtSeconds,
          head,
          form.kind === 'text' ? form.charset : null,
          isInline ? 1 : 0,
          blobOf(bytes),
          eventChecksum(callback, event),
          checksumOfFields(bytes),
        );
        return;
      }
      case 'delete-callback':
        this.#run('DELETE FROM event WHERE callback = ?', operation.id);
        this.#run('DELETE FROM callback WHERE id = ?', operation.id);
        return;
      case 'expire-callback':
        this.#run('DELETE FROM event WHERE callback = ?', operation.id);
        return;
      case 'probe':
        this.#run('INSERT INTO probe (filler) VALUES (zeroblob(?))', PROBE_BYTES);
        this.#run('DELETE FROM probe');
        return;
      default:
        operation satisfies never;
    }
  }

  meta(name: string): number {
    const row = this.#prepared('SELECT value FROM meta WHERE name = ?').get(name) as { value: number } | undefined;
    return row?.value ?? 0;
  }

  setMeta(name: string, value: number): void {
    this.#run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }

  /**
   * Used authorizations by serial, without those that ended before `fromSeconds`, which are removed.
   * @throws DamagedError, or what node:sqlite throws for damaged pages
   */
  loadEnds(fromSeconds: number): (UsedAuthorization & { readonly serial: number })[] {
    const ends: (UsedAuthorization & { readonly serial: number })[] = [];
    const past: number[] = [];
    for (const row of this.#database.prepare('SELECT serial, record FROM used ORDER BY serial').iterate()) {
      const serial = row.serial as number;
      const end = endOfRecord(serial, row.record as Uint8Array);
      if (end.validBeforeSeconds < fromSeconds) past.push(serial);
      else ends.push({ serial, ...end });
    }
    if (past.length > 0) this.#inTransaction(() => this.#apply({ kind: 'forget', serials: past }));
    return ends;
  }

  /**
   * Settlements without an end, by serial, with whether they move play money.
   * @throws DamagedError
   */
  loadCases(): (Omit<RecordedCase, 'isRepeatable'> & { readonly isPlay: boolean })[] {
    const rows = this.#database.prepare(
      'SELECT serial, is_play, payer, CAST(value AS TEXT) AS value, "transaction" AS hash, terms, checksum FROM pending ORDER BY serial',
    );
    return (rows.all() as Row[]).map((row) => {
      const serial = row.serial as number;
      const isPlay = row.is_play === 1;
      const terms = row.terms as string;
      const checksum = checksumOfFields(serial, isPlay ? 1 : 0, row.payer as string, row.value as string, terms);
      if (checksum !== row.checksum) throw new DamagedError(`settlement ${serial}`);
      return { serial, isPlay, order: orderOfText(terms), transaction: row.hash as string };
    });
  }

  /** The play ledger's sums. */
  loadSpent(): [payer: string, atomic: bigint][] {
    const rows = this.#database.prepare('SELECT payer, CAST(atomic AS TEXT) AS atomic FROM spent').all() as Row[];
    return rows.map((row) => [row.payer as string, BigInt(row.atomic as string)]);
  }

  /**
   * Callbacks with their events in order; those that ended before `fromMs` are removed, those past `nowMs` lose their events.
   * @throws DamagedError
   */
  loadCallbacks(nowMs: number, fromMs: number): LoadedCallback[] {
    this.#inTransaction(() => {
      this.#run('DELETE FROM callback WHERE expires_at_ms < ?', fromMs);
      this.#run('DELETE FROM event WHERE callback NOT IN (SELECT id FROM callback WHERE expires_at_ms > ?)', nowMs);
    });
    const eventsOf = this.#database.prepare(
      `SELECT id, received_at_seconds, head, charset, is_inline, checksum, body_checksum,
         CASE WHEN is_inline THEN bytes END AS bytes FROM event WHERE callback = ? ORDER BY serial`,
    );
    const rows = this.#database
      .prepare('SELECT id, token_digest, expires_at_ms, checksum FROM callback')
      .all() as Row[];
    return rows.map((row) => {
      const id = row.id as CallbackId;
      const tokenDigest = row.token_digest as Uint8Array;
      const expiresAtMs = row.expires_at_ms as number;
      if (checksumOfFields(id, tokenDigest, expiresAtMs) !== row.checksum) throw new DamagedError(`callback ${id}`);
      const events = (eventsOf.all(id) as Row[]).map((found) => this.#loadedEvent(id, found));
      return { callback: { id, tokenDigest, expiresAtMs }, events };
    });
  }

  #loadedEvent(callback: CallbackId, row: Row): LoadedEvent {
    const bytes = row.bytes as Uint8Array | null;
    const event: LoadedEvent = {
      id: row.id as EventId,
      receivedAtSeconds: row.received_at_seconds as number,
      head: row.head as string,
      form: formOf(row.charset),
      isInline: row.is_inline === 1,
      bytes,
    };
    const isIntact =
      eventChecksum(callback, event) === row.checksum &&
      (bytes === null || checksumOfFields(bytes) === row.body_checksum);
    if (!isIntact) throw new DamagedError(`event ${event.id}`);
    return event;
  }

  /** One event with its body, or undefined. @throws DamagedError */
  readEvent(callback: string, eventId: string): EventRecord | undefined {
    const row = this.#prepared(
      `SELECT id, callback, received_at_seconds, head, charset, is_inline, checksum, body_checksum, bytes
       FROM event WHERE callback = ? AND id = ?`,
    ).get(callback, eventId) as Row | undefined;
    if (row === undefined) return undefined;
    const event = this.#loadedEvent(row.callback as CallbackId, row);
    return { ...event, bytes: event.bytes as Uint8Array };
  }

  #pragma(name: string): number {
    return Object.values(this.#database.prepare(`PRAGMA ${name}`).get() as Row)[0] as number;
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (failure) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw failure;
    }
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run(sql: string, ...values: readonly (string | number | bigint | Uint8Array | null)[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** @throws Error when there is not exactly one such row: a bug in the caller */
  #runOnOne(sql: string, ...values: readonly (string | number)[]): void {
    if (this.#run(sql, ...values) !== 1) throw new Error(`no record ${values.at(-1)}`);
  }
}
