/**
 * The state file: one SQLite database in WAL mode, written by one connection. All calls are synchronous. The start reads
 * through one instance; afterwards the writer thread owns another. This file opens and checks the database, applies batches and
 * classifies faults; tables/ has the records of each domain. `meta` holds small numbers of the file itself.
 */
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../base/failure.ts';
import { firstFindingOf } from './check-verdict.ts';
import { DamagedError } from './checksum.ts';
import { Connection, type Row } from './connection.ts';
import { type HeldFile, whatWasMoved } from './held-files.ts';
import { isBug, isOfTheRequest } from './refused.ts';
import { BUSY, CANNOT_OPEN, CORRUPT, FULL, LOCKED, NOT_A_DATABASE, READ_ONLY, resultCodeOf } from './result-code.ts';
import { BatchSums } from './tables/batch-sums.ts';
import { PROBE } from './tables/probe.ts';
import { LONG_TABLE, problemOfRetries } from './tables/retries.ts';
import { HISTORY_TABLES } from './tables/sales.ts';
import type { Operation, Query } from './tables/table.ts';
import { answerTo, SCHEMA, tableOf } from './tables/tables.ts';
import type { BatchResult, DatabaseOptions, Fault, RefusedOperation } from './writer-messages.ts';

/** Format of everything in tables/; a change of any schema or record there needs the next number. */
export const FORMAT_VERSION = 9;
/** "pgst": tells `file` and SQLite's tools which program the database belongs to. */
const APPLICATION_ID = 0x70677374;

/**
 * Pages of log at which SQLite makes a checkpoint: 16 MB. More than SQLite's default of 4 MB, because webhook bodies
 * fill the log fast and each checkpoint costs two syncs; few enough that the start reads the log quickly.
 */
const CHECKPOINT_PAGES = 4096;
/** Another program may have the file open (a backup, the sqlite3 shell); commits wait for it this long. */
export const BUSY_MS = 2000;

const META = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;';
const FILE_SCHEMA = META + SCHEMA;

/** True for a failure that shows a file which is damaged, or of another release. */
export function isUnreadable(failure: unknown): boolean {
  if (failure instanceof DamagedError || failure instanceof OtherReleaseError) return true;
  const code = resultCodeOf(failure);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** Result codes after which nothing was written, so a retry is safe. */
const HARMLESS: ReadonlySet<number | undefined> = new Set([BUSY, LOCKED, READ_ONLY, FULL, CANNOT_OPEN]);

/** A state file that another release wrote and still reads. */
export class OtherReleaseError extends Error {}

const pragma = (database: DatabaseSync, name: string): unknown =>
  Object.values((database.prepare(`PRAGMA ${name}`).get() ?? {}) as Row)[0];

/** @throws DamagedError for a file that is not a state file; OtherReleaseError; Error of node:sqlite */
export function checkFormat(database: DatabaseSync): void {
  if (pragma(database, 'application_id') !== APPLICATION_ID) throw new DamagedError('it is not a state file');
  const version = pragma(database, 'user_version') as number;
  if (version === FORMAT_VERSION) return;
  const age = version > FORMAT_VERSION ? 'newer' : 'older';
  throw new OtherReleaseError(`its format ${version} is ${age} than this program, which reads ${FORMAT_VERSION}`);
}

/** The schema in the file as text. SQLite's checks do not see a damaged bit in a column's name. */
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
  /** For the load functions of the tables, at start. */
  readonly connection: Connection;
  readonly #database: DatabaseSync;
  readonly #commitDelayMs: number;
  readonly #held: readonly HeldFile[];

  /**
   * Makes the file if there is none.
   * @throws Error of node:sqlite; DamagedError for a file of another program, OtherReleaseError
   */
  constructor({ path, sync, commitDelayMs = 0, held = [] }: DatabaseOptions) {
    this.#commitDelayMs = commitDelayMs;
    this.#held = held;
    this.#database = new DatabaseSync(path);
    this.connection = new Connection(this.#database);
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      const version = pragma(this.#database, 'user_version');
      if (version !== 0) checkFormat(this.#database);
      this.#database.exec('PRAGMA journal_mode = WAL');
      this.#database.exec(`PRAGMA synchronous = ${sync}`);
      this.#database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
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

  /** Closes the file after a checkpoint, which SQLite omits while another program has the file open. */
  close(): void {
    this.connection.close();
  }

  /**
   * Checks the pages and the schema, but not the history: the books may be long, payments never read them, and each row
   * is checked when it is read. It uses SQLite's full check, because the quick one accepts an index that lost an entry;
   * for the retries, which may be a million, it counts index entries instead.
   * @throws DamagedError when the pages are inconsistent, or the schema is not ours
   */
  check(): void {
    if (tablesOf(this.#database) !== tablesMade()) throw new DamagedError('its schema is not that of a state file');
    const names = this.connection
      .all("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .map(({ name }) => String(name));
    for (const name of ['sqlite_schema', ...names]) {
      if (HISTORY_TABLES.includes(name)) continue;
      const check = name === LONG_TABLE ? 'quick_check' : 'integrity_check';
      const verdict = pragma(this.#database, `${check}(${name})`);
      if (verdict !== 'ok') throw new DamagedError(firstFindingOf(verdict));
    }
    const problem = problemOfRetries(this.connection);
    if (problem !== undefined) throw new DamagedError(problem);
  }

  /** Commits the whole batch or nothing, except operations that it refuses for their own fault. Never throws. */
  apply(operations: readonly Operation[]): BatchResult {
    const moved = whatWasMoved(this.#held);
    if (moved !== undefined) return { kind: 'broken', detail: moved, isInDoubt: false };
    return this.#tryToApply(operations, false);
  }

  #tryToApply(operations: readonly Operation[], isOneByOne: boolean): BatchResult {
    let isCommitting = false;
    const refused: RefusedOperation[] = [];
    const sums = new BatchSums();
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const [index, operation] of operations.entries()) {
        if (!isOneByOne) {
          tableOf(operation).apply(this.connection, operation, sums);
          continue;
        }
        const refusal = this.#refusalOf(operation);
        if (refusal !== undefined) refused.push({ index, ...refusal });
      }
      sums.write(this.connection);
      isCommitting = true;
      this.#database.exec('COMMIT');
      if (this.#commitDelayMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, this.#commitDelayMs);
      return { kind: 'done', refused };
    } catch (failure) {
      const fault = this.#faultOf(failure, isCommitting);
      const isOfOne = !isOneByOne && !isCommitting && isOfTheRequest(failure) && fault.kind === 'refused';
      return isOfOne ? this.#tryToApply(operations, true) : fault;
    }
  }

  /** Applies one operation in the open transaction. @returns its own fault, after undoing it @throws any other failure */
  #refusalOf(operation: Operation): Omit<RefusedOperation, 'index'> | undefined {
    this.#database.exec('SAVEPOINT one');
    try {
      const sums = new BatchSums();
      tableOf(operation).apply(this.connection, operation, sums);
      sums.write(this.connection);
    } catch (failure) {
      if (!isOfTheRequest(failure) || !this.#database.isTransaction) throw failure;
      this.#database.exec('ROLLBACK TO one; RELEASE one');
      return { detail: `${operation.kind}: ${messageOf(failure)}`, isBug: isBug(failure) };
    }
    this.#database.exec('RELEASE one');
    return undefined;
  }

  #faultOf(failure: unknown, isCommitting: boolean): Fault {
    const code = resultCodeOf(failure);
    let detail = messageOf(failure);
    let isOpen = this.#database.isTransaction;
    try {
      if (isOpen) this.#database.exec('ROLLBACK');
      isOpen = false;
    } catch (second) {
      detail += `; then ${messageOf(second)}`;
    }
    const isHarmless = !isOpen && (HARMLESS.has(code) || (isOfTheRequest(failure) && !isCommitting));
    if (isHarmless) return { kind: 'refused', detail };
    if (isCommitting && !isOpen) this.#writeOverFailedCommit();
    return { kind: 'broken', detail, isInDoubt: isCommitting };
  }

  /**
   * After a failed sync the log still holds the whole commit, so the next start would accept it although its requests
   * were refused: a charge for a 503. SQLite overwrites it with the next commit before it syncs, so this commit may
   * fail too. After a loss of power the log may still hold either one.
   */
  #writeOverFailedCommit(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      tableOf(PROBE).apply(this.connection, PROBE, new BatchSums());
      this.#database.exec('COMMIT');
    } catch {
      // The batch stays in doubt.
    }
  }

  /** As {@link answerTo}. */
  read(query: Query): unknown {
    return answerTo(this.connection, query);
  }

  meta(name: string): number {
    return (this.connection.row('SELECT value FROM meta WHERE name = ?', name)?.value as number | undefined) ?? 0;
  }

  setMeta(name: string, value: number): void {
    this.connection.run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }
}
