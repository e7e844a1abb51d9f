/**
 * Reads the books of a state folder from another process, whether or not a server runs on it, and changes nothing of the state.
 *
 * With a log (a server runs, or was killed) SQLite reads file and log together through the shared index, which it may
 * rebuild; as the file is open for reading only, it can neither make a checkpoint nor remove the log. Without a log
 * SQLite would leave an empty one behind, so each page is then read from the file alone, opened as immutable. If a
 * server wrote meanwhile, the page is discarded and read again.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import type { Sale, SalesQuery } from '../../payment/books.ts';
import { closedFolder } from '../folder-fault.ts';
import { DamagedError } from './checksum.ts';
import type { Connection } from './connection.ts';
import { openReadOnly } from './read-only.ts';
import { CANNOT_OPEN, resultCodeOf } from './result-code.ts';
import { STATE_FILE } from './state.ts';
import { readSales, SALES } from './tables/sales.ts';

/** The books cannot be read; the message is one line. */
export class BooksFileError extends Error {}

export class BooksFile {
  readonly #path: string;
  /** Stays open after the first page that was read with a log, because each opening may read the whole log. */
  #withLog: Connection | undefined;

  /** @throws BooksFileError when the folder has no state */
  constructor(stateDir: string) {
    this.#path = resolve(join(stateDir, STATE_FILE));
    if (!existsSync(this.#path)) {
      const closed = closedFolder(stateDir, STATE_FILE);
      throw new BooksFileError(closed ?? `${stateDir} has no ${STATE_FILE}: no server has used it`);
    }
  }

  /** A page, oldest first. @throws BooksFileError */
  list(query: SalesQuery): readonly Sale[] {
    try {
      for (;;) {
        const before = this.#withLog === undefined ? this.#versionAtRest() : undefined;
        if (before === undefined) {
          this.#withLog ??= openReadOnly(this.#path);
          return pageOf(this.#withLog, query);
        }
        const sales = this.#pageAtRest(query);
        if (this.#versionAtRest() === before) return sales;
      }
    } catch (failure) {
      if (resultCodeOf(failure) === CANNOT_OPEN) {
        throw new BooksFileError(`${this.#path} is closed to this user: run this as the user that runs the server`);
      }
      const what = failure instanceof DamagedError ? 'it is damaged: ' : '';
      throw new BooksFileError(`${this.#path}: ${what}${messageOf(failure)}`, { cause: failure });
    }
  }

  close(): void {
    this.#withLog?.close();
    this.#withLog = undefined;
  }

  #pageAtRest(query: SalesQuery): readonly Sale[] {
    const connection = openReadOnly(this.#path, { isAtRest: true });
    try {
      return pageOf(connection, query);
    } finally {
      connection.close();
    }
  }

  /** Changes whenever a server has written the file; undefined while there is a log. */
  #versionAtRest(): string | undefined {
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > 0) return undefined;
    const { mtimeNs, size } = statSync(this.#path, { bigint: true });
    return `${mtimeNs} ${size}`;
  }
}

const pageOf = (connection: Connection, query: SalesQuery): readonly Sale[] =>
  readSales(connection, { table: SALES, kind: 'page', query }) as readonly Sale[];
