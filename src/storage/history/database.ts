/**
 * The history of a catalogue: one SQLite file in the catalogue's folder. In rollback-journal mode it stays one file when
 * closed. This file opens and checks it; import.ts and writer.ts write.
 *
 * Tables: `board`; `feed`, every listing that was imported (time, rows, complete or not); `job`, the current knowledge
 * of each job, with a checksum, because SQLite checks only the structure of its pages; `event`, what opened, changed,
 * closed and reopened, and when, in the order in which it was recorded; `dictionary`, versions that skills were
 * extracted with; `description`, the texts of the jobs' descriptions; `change`, the last transactions, whose number is
 * in each job that they wrote; `repeated`, feeds that a source reported as unchanged; further tables of companies and
 * boards in history-schema.ts. Times are milliseconds since the epoch, UTC.
 *
 * An unchanged board lists all its jobs once more. That is stored as one row of `repeated` instead of a write of each job: a
 * job last present in the board's feed of `from_ms` was last present, and observed, at `to_ms`. `JOBS` (stored-job.ts) joins
 * that to each job.
 *
 * A whole import is one transaction: after a kill the catalogue is as it was before or after the import, and SQLite's
 * lock excludes a second import. Readers continue until the import writes its pages to the file.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MINUTE_MS } from '../../base/durations.ts';
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { closedFolder, folderFaultOf, linkToNothing } from '../folder-fault.ts';
import { makeFolder } from '../make-folder.ts';
import { firstFindingOf } from '../sqlite/check-verdict.ts';
import { Connection, type Row, type SqlValue } from '../sqlite/connection.ts';
import {
  BUSY,
  CANNOT_OPEN,
  extendedCodeOf,
  FULL,
  LOCKED,
  READ_ONLY,
  READ_ONLY_MOVED,
  resultCodeOf,
} from '../sqlite/result-code.ts';
import { SCHEMA } from './history-schema.ts';

/** The catalogue cannot be used. The message is one line for the operator. */
export class HistoryError extends Error {}

export const HISTORY_FILE = 'catalogue.sqlite';
const FORMAT_VERSION = 6;
/** "pgca": tells `file` and SQLite's tools which program the database belongs to. */
const APPLICATION_ID = 0x70676361;
/** How long a reader waits for an import that is writing its pages to the file, and a writer for another writer. */
const BUSY_MS = 10_000;
/** How long a commit waits for readers, such as a build: with a million jobs one reads for a minute. */
const COMMIT_BUSY_MS = 5 * MINUTE_MS;
/** Negative: KiB. 64 MiB keep the inner pages of a million jobs' index in memory. */
const CACHE_SIZE = -65_536;

/** Turns a failure of the system or of SQLite into a HistoryError of one line; returns a bug unchanged. */
function historyErrorOf(failure: unknown, path: string): Error {
  if (failure instanceof HistoryError) return failure;
  const code = resultCodeOf(failure);
  if (code === BUSY || code === LOCKED) return new HistoryError(`${path} is in use by an import or a watch`);
  if (extendedCodeOf(failure) === READ_ONLY_MOVED) {
    return new HistoryError(`${path} was moved, deleted or replaced while it was in use`);
  }
  if (code === READ_ONLY) {
    const left = 'a killed process left an unfinished write, which this user may not roll back';
    return new HistoryError(`${path}: ${left}; run this once as the user that imports or watches`);
  }
  if (code === CANNOT_OPEN) {
    const why = linkToNothing(path) === undefined ? 'cannot be opened by this user' : 'is a link to nothing';
    return new HistoryError(`${path} ${why}`);
  }
  const name = errorCodeOf(failure);
  const isSystem = name !== undefined && 'syscall' in (failure as object);
  if (code === undefined && !isSystem) return failure as Error;
  const why = isSystem ? `cannot be used (${name})` : firstLineOf(failure);
  return new HistoryError(`${path}: ${why}`, { cause: failure });
}

/**
 * The file's path in a folder that is created if missing. @throws HistoryError also when this user may not write there,
 * which SQLite would report late
 */
function pathMadeIn(folder: string): string {
  const path = join(folder, HISTORY_FILE);
  try {
    makeFolder(folder);
    for (const written of [folder, path]) if (existsSync(written)) accessSync(written, constants.W_OK);
    return path;
  } catch (failure) {
    throw new HistoryError(`${folder} cannot be a catalogue: ${folderFaultOf(folder, failure)}`, { cause: failure });
  }
}

export class HistoryDatabase extends Connection {
  /** Path of the file, for messages. */
  readonly path: string;

  private constructor(path: string, database: DatabaseSync) {
    super(database);
    this.path = path;
  }

  /**
   * Opens the history in `folder` for an import, creates both when they are missing, and begins the import's transaction. It
   * waits for another writer: a visit of a watch takes a moment, another import as long as its files need.
   * @throws HistoryError when the other writer does not end in time, or the history is damaged, another database, or
   * newer than this program
   */
  static openForImport(folder: string): HistoryDatabase {
    const path = pathMadeIn(folder);
    return HistoryDatabase.#opened(path, (history) => history.#beginToWrite(BUSY_MS));
  }

  /**
   * Opens the history for the small tables (boards, words of the operator), creates it when it is missing, and begins a
   * transaction. It waits for another writer, and does not check every page, which takes seconds for a large history.
   * @throws HistoryError as `openForImport`
   */
  static openForSettings(folder: string, waitMs = BUSY_MS): HistoryDatabase {
    const path = pathMadeIn(folder);
    return HistoryDatabase.#opened(path, (history) => history.#beginToWrite(waitMs), false, waitMs);
  }

  /**
   * Opens the history for many successive transactions (`tryBegin`); creates it when it is missing.
   * @throws HistoryError as `openForImport`
   */
  static openForWatching(folder: string): HistoryDatabase {
    const path = pathMadeIn(folder);
    return HistoryDatabase.#opened(path, (history) => {
      history.#beginToWrite(BUSY_MS);
      history.commit();
    });
  }

  /** Begins a transaction. @returns false while another process writes @throws HistoryError */
  tryBegin(): boolean {
    try {
      this.database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
      return true;
    } catch (failure) {
      if (resultCodeOf(failure) === BUSY) return false;
      throw historyErrorOf(failure, this.path);
    } finally {
      this.database.exec(`PRAGMA busy_timeout = ${COMMIT_BUSY_MS}`);
    }
  }

  /** Commits the transaction, once readers have ended. @throws HistoryError when they do not end in time */
  commit(waitMs = COMMIT_BUSY_MS): void {
    this.exec(`PRAGMA busy_timeout = ${waitMs}; COMMIT`);
  }

  get isInTransaction(): boolean {
    return this.database.isTransaction;
  }

  /** Rolls back the transaction, if there is one. */
  rollback(): void {
    try {
      this.exec('ROLLBACK');
    } catch {
      // There is no transaction: SQLite has rolled it back itself, or it was never begun.
    }
  }

  /** Opens the history for reading the small tables, without a check of every page. @throws as `openForReading` */
  static openForGlance(folder: string, waitMs = BUSY_MS): HistoryDatabase {
    return HistoryDatabase.#openedForReading(folder, false, waitMs);
  }

  /** Opens the history in `folder` for reading. @throws HistoryError when there is none, or as `openForImport` */
  static openForReading(folder: string): HistoryDatabase {
    return HistoryDatabase.#openedForReading(folder, true);
  }

  static #openedForReading(folder: string, isChecked: boolean, waitMs = BUSY_MS): HistoryDatabase {
    const path = join(folder, HISTORY_FILE);
    const closed = closedFolder(folder, HISTORY_FILE);
    if (closed !== undefined) throw new HistoryError(closed);
    if (!existsSync(path)) throw new HistoryError(`${folder} holds no catalogue: there is no ${HISTORY_FILE} in it`);
    return HistoryDatabase.#opened(
      path,
      (history) => {
        // One transaction, so that all reads see the same moment.
        history.database.exec('BEGIN');
        if (history.#pragma('user_version') === 0)
          throw new HistoryError(`${folder} holds no catalogue: nothing was imported`);
      },
      isChecked,
      waitMs,
    );
  }

  #beginToWrite(waitMs: number): void {
    this.database.exec(`PRAGMA busy_timeout = ${waitMs}; BEGIN IMMEDIATE`);
    if (this.#pragma('user_version') === 0) {
      this.database.exec(
        `${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}`,
      );
    }
  }

  static #opened(
    path: string,
    begin: (history: HistoryDatabase) => void,
    isChecked = true,
    waitMs = BUSY_MS,
  ): HistoryDatabase {
    let database: DatabaseSync | undefined;
    try {
      if (existsSync(path) && !statSync(path).isFile()) throw new HistoryError(`${path} is not a file`);
      database = new DatabaseSync(path);
      const history = new HistoryDatabase(path, database);
      database.exec(`PRAGMA busy_timeout = ${waitMs}; PRAGMA cache_size = ${CACHE_SIZE}; PRAGMA temp_store = FILE`);
      const version = history.#pragma('user_version');
      const isEmpty = history.#pragma('page_count') === 0;
      if (!isEmpty && history.#pragma('application_id') !== APPLICATION_ID) {
        throw new HistoryError(`${path} is another database, not a catalogue's history`);
      }
      if (version !== 0 && version !== FORMAT_VERSION) {
        const age = version < FORMAT_VERSION ? 'older' : 'newer';
        const hint = version < FORMAT_VERSION ? ': import the files again' : '';
        throw new HistoryError(
          `${path} has format ${version}, which is ${age} than this program (${FORMAT_VERSION})${hint}`,
        );
      }
      begin(history);
      if (isChecked) {
        const found = Object.values(database.prepare('PRAGMA quick_check(1)').get() as Row)[0];
        if (found !== 'ok') throw new HistoryError(`${path} is damaged: ${firstFindingOf(found)}`);
      }
      return history;
    } catch (failure) {
      database?.close();
      throw historyErrorOf(failure, path);
    }
  }

  #pragma(name: string): number {
    return Number(Object.values(this.database.prepare(`PRAGMA ${name}`).get() as Row)[0]);
  }

  /** Returns the result of `act`. @throws HistoryError for a failure of the system or of SQLite */
  guarded<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (failure) {
      throw historyErrorOf(failure, this.path);
    }
  }

  /** Runs a statement. @returns the number of changed rows @throws HistoryError */
  override run(sql: string, ...values: readonly SqlValue[]): number {
    return this.guarded(() => super.run(sql, ...values));
  }

  /** Inserts a row. @returns its serial @throws HistoryError */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return this.guarded(() => Number(this.prepared(sql).run(...values).lastInsertRowid));
  }

  /** Runs statements that take no values. @throws HistoryError */
  override exec(sql: string): void {
    this.guarded(() => super.exec(sql));
  }

  /** The first row of a query. @throws HistoryError */
  override row(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.guarded(() => super.row(sql, ...values));
  }

  /** Every row of a query. @throws HistoryError */
  override rows(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.guarded(() => super.rows(sql, ...values));
  }

  /** The rows of a query, read one after another. @throws HistoryError */
  override *each(sql: string, ...values: readonly SqlValue[]): Generator<Row, void, void> {
    try {
      yield* super.each(sql, ...values);
    } catch (failure) {
      throw historyErrorOf(failure, this.path);
    }
  }

  /**
   * The rows of a query as of the first read, from a copy: a pager may read the next row an hour later, and while a
   * statement reads the file no writer can commit. Ends the transaction. @throws HistoryError
   */
  *eachOfCopy(sql: string, ...values: SqlValue[]): Generator<Row, void, void> {
    try {
      this.rollback();
      this.database.exec('DROP TABLE IF EXISTS temp.shown');
      this.database.prepare(`CREATE TEMP TABLE shown AS ${sql}`).run(...values);
      yield* this.database.prepare('SELECT * FROM temp.shown ORDER BY rowid').iterate() as Iterable<Row>;
    } catch (failure) {
      if (resultCodeOf(failure) === FULL)
        throw new HistoryError('no space is left for a copy of what is shown; set SQLITE_TMPDIR to another folder');
      throw historyErrorOf(failure, this.path);
    }
  }
}
