/**
 * The state file: one SQLite database in WAL mode, written by one connection. Everything is synchronous here; the writer
 * thread owns an instance, and the start reads through another before that. What the file holds for each domain is in
 * tables/; this file opens, checks, applies batches and names faults. `meta` holds small numbers of the file itself.
 */
import { DatabaseSync } from 'node:sqlite';
import { DamagedError } from './checksum.ts';
import { Connection, type Row } from './connection.ts';
import type { Operation, Query } from './tables/table.ts';
import { SCHEMA, tableOf } from './tables/tables.ts';
import type { BatchResult, DatabaseOptions, Fault, RefusedOperation } from './writer-messages.ts';

/** Of everything in tables/; a change of any schema or record there needs the next number. */
export const FORMAT_VERSION = 2;
/** "pgst", so that `file` and SQLite's own tools can tell whose it is. */
export const APPLICATION_ID = 0x70677374;

/**
 * Pages of log after which SQLite carries the log over into the file: 16 MB. Larger than SQLite's own 4 MB, since webhook
 * bodies fill it fast and each carrying over costs two syncs; small enough to be read back quickly at start.
 */
const CHECKPOINT_PAGES = 4096;
/** Another program may have the file open (a backup, the sqlite3 shell); commits wait for it this long. */
const BUSY_MS = 2000;

const META = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;';
const FILE_SCHEMA = META + SCHEMA;

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
 * code at all. The database leaves such an operation out and keeps the others of its batch.
 */
const OF_THE_OPERATION: ReadonlySet<number | undefined> = new Set([1, 18, 19, 20, 21, 25, undefined]);

/** Why this program does not read a file of that format, or undefined; 0 is a file that was just made. */
export function formatProblem(version: number): string | undefined {
  if (version === 0 || version === FORMAT_VERSION) return undefined;
  return `its format ${version} is ${version > FORMAT_VERSION ? 'newer' : 'older'} than this program`;
}

/** The tables as the file describes them: a bit of a column's name is in no page's structure, so no check of SQLite sees it. */
function tablesOf(database: DatabaseSync): string {
  return JSON.stringify(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all());
}

function tablesMade(): string {
  const made = new DatabaseSync(':memory:');
  made.exec(FILE_SCHEMA);
  const tables = tablesOf(made);
  made.close();
  return tables;
}

export class StateDatabase {
  /** For the tables' own load functions, at start. */
  readonly connection: Connection;
  readonly #database: DatabaseSync;
  readonly #commitDelayMs: number;

  /**
   * Makes the file if there is none.
   * @throws what node:sqlite throws; DamagedError for a file of another program or another format
   */
  constructor({ path, sync, commitDelayMs = 0, pageCountMax }: DatabaseOptions) {
    this.#commitDelayMs = commitDelayMs;
    this.#database = new DatabaseSync(path);
    this.connection = new Connection(this.#database);
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      const version = this.#pragma('user_version');
      if (version !== 0 && this.#pragma('application_id') !== APPLICATION_ID) {
        throw new DamagedError('it is not a state file');
      }
      const problem = formatProblem(version);
      if (problem !== undefined) throw new DamagedError(problem);
      this.#database.exec('PRAGMA journal_mode = WAL');
      this.#database.exec(`PRAGMA synchronous = ${sync}`);
      this.#database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      if (pageCountMax !== undefined) this.limitPages(pageCountMax);
      if (version === 0) {
        this.#database.exec(
          `BEGIN IMMEDIATE; ${FILE_SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}; COMMIT`,
        );
      }
    } catch (failure) {
      this.#database.close();
      throw failure;
    }
  }

  /** Carries the log over into the file, unless another program has it open. */
  close(): void {
    this.connection.close();
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

  /** For tests: the file cannot grow past `pageCountMax` pages. */
  limitPages(pageCountMax: number): void {
    this.#database.exec(`PRAGMA max_page_count = ${pageCountMax}`);
  }

  /** All of the batch or nothing of it, except operations that it refuses for their own fault. Never throws. */
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
          tableOf(operation).apply(this.connection, operation);
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

  /** Applies one in the open transaction. Undoes it and says why if the fault is its own; throws any other. */
  #refusalOf(operation: Operation): string | undefined {
    this.#database.exec('SAVEPOINT one');
    try {
      tableOf(operation).apply(this.connection, operation);
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

  /** @throws DamagedError; Error for a table that nothing reads */
  read(query: Query): unknown {
    const table = tableOf(query);
    if (table.read === undefined) throw new Error(`nothing reads ${table.name}`);
    return table.read(this.connection, query);
  }

  meta(name: string): number {
    const row = this.connection.prepared('SELECT value FROM meta WHERE name = ?').get(name) as
      | { value: number }
      | undefined;
    return row?.value ?? 0;
  }

  setMeta(name: string, value: number): void {
    this.connection.run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }

  #pragma(name: string): number {
    return Object.values(this.#database.prepare(`PRAGMA ${name}`).get() as Row)[0] as number;
  }
}
