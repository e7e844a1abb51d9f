/** Opens the state file for reading, also while a server writes it: with its log, each reader sees whole commits. */
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Connection } from './connection.ts';
import { BUSY_MS, checkFormat } from './database.ts';

/** With `immutable`, SQLite reads the file alone: it takes no lock, looks for no log and leaves none behind. */
function immutable(path: string): URL {
  const url = pathToFileURL(resolve(path));
  url.searchParams.set('immutable', '1');
  return url;
}

/**
 * @param isAtRest true: there is no log, and what a server writes meanwhile may be missed or read in halves
 * @throws DamagedError or OtherReleaseError with one line; Error of node:sqlite when it cannot be read. The caller names the
 *   file.
 */
export function openReadOnly(path: string, { isAtRest = false } = {}): Connection {
  const database = new DatabaseSync(isAtRest ? immutable(path) : path, { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    checkFormat(database);
  } catch (failure) {
    database.close();
    throw failure;
  }
  return new Connection(database);
}
