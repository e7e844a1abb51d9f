/**
 * One process per state folder. The lock is SQLite's exclusive lock (an advisory one of the system) on a file that holds
 * nothing else; the system releases it when the process ends, however that ends.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** In the state folder. */
export const LOCK_FILE = 'lock';
const BUSY = 5;

export interface StateLock {
  release(): void;
}

/** undefined: another process has it. @throws what node:sqlite throws when the folder cannot be used */
export function lockState(stateDir: string): StateLock | undefined {
  const database = new DatabaseSync(join(stateDir, LOCK_FILE));
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (failure) {
    database.close();
    if ((failure as { errcode?: unknown }).errcode === BUSY) return undefined;
    throw failure;
  }
  return { release: () => database.close() };
}
