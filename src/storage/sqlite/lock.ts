/**
 * Locks a folder for one process: a state folder for its server, a catalogue folder for its watch; one folder may be
 * both. The lock is SQLite's exclusive lock (an advisory lock of the system) on an otherwise empty file; the system
 * releases it however the process ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeOwnFile } from '../own-file.ts';
import { BUSY, resultCodeOf } from './result-code.ts';

/** In the state folder. */
export const LOCK_FILE = 'lock';
/** In the catalogue's folder. */
export const WATCH_LOCK_FILE = 'watch.lock';

export interface StateLock {
  release(): void;
}

/** Locks the folder; undefined = another process has the lock. @throws Error of node:sqlite or node:fs when the folder cannot be used */
export function lockState(folder: string, file = LOCK_FILE): StateLock | undefined {
  const path = join(folder, file);
  // Anyone who may read the file may lock it and so keep the server from starting.
  makeOwnFile(path);
  const database = new DatabaseSync(path);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (failure) {
    database.close();
    if (resultCodeOf(failure) === BUSY) return undefined;
    throw failure;
  }
  return { release: () => database.close() };
}
