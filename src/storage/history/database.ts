/**
 * The history of a catalogue: one SQLite file in the catalogue's folder. In rollback-journal mode it stays one file when
 * closed. This file opens, checks and reads it; import.ts and writer.ts write.
 *
 * Tables: `board`; `feed`, every listing that was imported (time, rows, complete or not); `job`, the current knowledge
 * of each job, with a checksum, because SQLite checks only the structure of its pages; `event`, what opened, changed,
 * closed and reopened, and when, in the order in which it was recorded; `dictionary`, versions that skills were
 * extracted with; `description`, the texts of the jobs' descriptions; `change`, the last transactions, whose number is
 * in each job that they wrote; `repeated`, feeds that a source reported as unchanged; further tables of companies and
 * boards in history-schema.ts. Times are milliseconds since the epoch, UTC.
 *
 * An unchanged board lists all its jobs once more. That is stored as one row of `repeated` instead of a write of each job: a
 * job last present in the board's feed of `from_ms` was last present, and observed, at `to_ms`. `JOBS` joins that to each job.
 *
 * A whole import is one transaction: after a kill the catalogue is as it was before or after the import, and SQLite's
 * lock excludes a second import. Readers continue until the import writes its pages to the file.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseJson } from '../../base/json-value.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import type { EventKind, KnownJob } from '../../ingest/history/observation.ts';
import { closedFolder, folderFaultOf, linkToNothing } from '../folder-fault.ts';
import { makeFolder } from '../make-folder.ts';
import { firstFindingOf } from '../sqlite/check-verdict.ts';
import { checksumOfFields } from '../sqlite/checksum.ts';
import { Connection, type Row, type SqlValue } from '../sqlite/connection.ts';
import { BUSY, CANNOT_OPEN, FULL, LOCKED, READ_ONLY, resultCodeOf } from '../sqlite/result-code.ts';
import { conditionOf, type HistoryEvent, type HistoryFeed, type HistoryQuery } from './history-query.ts';
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
const COMMIT_BUSY_MS = 300_000;
/** Negative: KiB. 64 MiB keep the inner pages of a million jobs' index in memory. */
const CACHE_SIZE = -65_536;

/** Turns a failure of the system or of SQLite into a HistoryError of one line; returns a bug unchanged. */
export function historyErrorOf(failure: unknown, path: string): Error {
  if (failure instanceof HistoryError) return failure;
  const code = resultCodeOf(failure);
  if (code === BUSY || code === LOCKED) return new HistoryError(`${path} is in use by an import or a watch`);
  if (code === READ_ONLY) {
    const left = 'a killed process left an unfinished write, which this user may not roll back';
    return new HistoryError(`${path}: ${left}; run this once as the user that imports or watches`);
  }
  if (code === CANNOT_OPEN) {
    const why = linkToNothing(path) === undefined ? 'cannot be opened by this user' : 'is a link to nothing';
    return new HistoryError(`${path} ${why}`);
  }
  const { message, code: name } = failure as NodeJS.ErrnoException;
  const isSystem = typeof name === 'string' && 'syscall' in (failure as object);
  if (code === undefined && !isSystem) return failure as Error;
  return new HistoryError(`${path}: ${isSystem ? `cannot be used (${name})` : String(message).split('\n')[0]}`);
}

/** The rows of `job` as `storedJobOf` takes them. */
export const JOBS = `SELECT job.*,
  (SELECT to_ms FROM repeated WHERE repeated.board = job.board AND from_ms = present_ms) AS repeated_ms FROM job`;

/** A stored job with its place in the tables. */
export interface StoredJob extends KnownJob {
  readonly serial: number;
  readonly board: number;
  readonly dictionary: number;
}

export function checksumOfJob(job: Omit<StoredJob, 'serial'>): number {
  const { job: fields } = job;
  return checksumOfFields(
    fields.id,
    job.board,
    fields.title,
    fields.company,
    fields.companyDomain ?? '',
    fields.location ?? '',
    fields.department ?? '',
    fields.remoteStatus,
    fields.employmentType,
    fields.sourceUrl,
    JSON.stringify(fields.skills),
    Number(job.hasOwnSkills),
    job.dictionary,
    job.descriptionDigest ?? '',
    job.firstMs,
    job.lastMs,
    job.presentMs,
    Number(job.isSourceClosed),
    job.closedMs ?? '',
  );
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
    throw new HistoryError(`${folder} cannot be a catalogue: ${folderFaultOf(folder, failure)}`);
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

  /** Rolls back the transaction, if there is one. */
  rollback(): void {
    try {
      this.database.exec('ROLLBACK');
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
  exec(sql: string): void {
    this.guarded(() => this.database.exec(sql));
  }

  /** The first row of a query. @throws HistoryError */
  row(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.guarded(() => this.prepared(sql).get(...values)) as Row | undefined;
  }

  /** Every row of a query. @throws HistoryError */
  rows(sql: string, ...values: SqlValue[]): Row[] {
    return this.guarded(() => this.prepared(sql).all(...values)) as Row[];
  }

  /** The rows of a query, read one after another. @throws HistoryError */
  *each(sql: string, ...values: SqlValue[]): Generator<Row, void, void> {
    try {
      yield* this.prepared(sql).iterate(...values) as Iterable<Row>;
    } catch (failure) {
      throw historyErrorOf(failure, this.path);
    }
  }

  /** Decodes a row of `JOBS`. @throws HistoryError when the row is damaged */
  storedJobOf(row: Row): StoredJob {
    const skills = parseJson(String(row.skills)); // the checksum below reports what is not JSON
    const job: StoredJob = {
      serial: row.serial as number,
      board: row.board as number,
      dictionary: row.dictionary as number,
      job: {
        id: row.id as string,
        title: row.title as string,
        company: row.company as string,
        companyDomain: row.company_domain as CompanyDomain | null,
        location: row.location as string | null,
        department: row.department as string | null,
        remoteStatus: row.remote_status as RemoteStatus,
        employmentType: row.employment_type as EmploymentType,
        sourceUrl: row.source_url as string,
        skills: Array.isArray(skills) ? skills : [],
      },
      descriptionDigest: row.description_digest as string | null,
      hasOwnSkills: row.has_own_skills === 1,
      isSourceClosed: row.is_source_closed === 1,
      firstMs: row.first_observed_ms as number,
      lastMs: row.last_observed_ms as number,
      presentMs: row.present_ms as number,
      closedMs: row.closed_ms as number | null,
    };
    if (row.checksum !== checksumOfJob(job)) {
      throw new HistoryError(
        `${this.path} is damaged: the record of job ${JSON.stringify(row.id)} is not what was written`,
      );
    }
    const repeatedMs = row.repeated_ms as number | null;
    return repeatedMs === null ? job : { ...job, lastMs: Math.max(job.lastMs, repeatedMs), presentMs: repeatedMs };
  }

  /** Events, oldest first. Ends the transaction. @throws HistoryError */
  *events(query: HistoryQuery): Generator<HistoryEvent, void, void> {
    const { where, values } = conditionOf(query, 'event');
    const sql = `SELECT event.at_ms, kind, job.id, title, company, shape, token, field, before, after
      FROM event JOIN job ON job.serial = event.job JOIN board ON board.serial = job.board ${where}
      ORDER BY event.at_ms, event.serial`;
    for (const row of this.#copied(sql, values)) {
      yield {
        atMs: row.at_ms as number,
        kind: row.kind as EventKind,
        id: row.id as string,
        title: row.title as string,
        company: row.company as string,
        shape: row.shape as string,
        board: row.token as string,
        field: row.field as string | null,
        before: row.before as string | null,
        after: row.after as string | null,
      };
    }
  }

  /** Feeds, oldest first. Ends the transaction. @throws HistoryError */
  *feeds(query: Pick<HistoryQuery, 'board' | 'sinceMs' | 'untilMs'>): Generator<HistoryFeed, void, void> {
    const { where, values } = conditionOf(query, 'feed');
    const sql = `SELECT feed.at_ms, shape, token, rows, is_complete
      FROM feed JOIN board ON board.serial = feed.board ${where} ORDER BY feed.at_ms, shape, token`;
    for (const row of this.#copied(sql, values)) {
      yield {
        atMs: row.at_ms as number,
        shape: row.shape as string,
        board: row.token as string,
        rows: row.rows as number,
        isComplete: row.is_complete === 1,
      };
    }
  }

  /**
   * The rows as of the first read, from a copy: a pager may read the next row an hour later, and while a statement
   * reads the file no writer can commit.
   */
  *#copied(sql: string, values: readonly (string | number)[]): Generator<Row, void, void> {
    try {
      this.rollback();
      this.database.exec('DROP TABLE IF EXISTS temp.shown');
      this.database.prepare(`CREATE TEMP TABLE shown AS ${sql}`).run(...values);
      for (const row of this.database.prepare('SELECT * FROM temp.shown ORDER BY rowid').iterate()) yield row as Row;
    } catch (failure) {
      if (resultCodeOf(failure) === FULL)
        throw new HistoryError('no space is left for a copy of what is shown; set SQLITE_TMPDIR to another folder');
      throw historyErrorOf(failure, this.path);
    }
  }
}
