/** A file that its owner alone may read, in a folder that others may enter. */
import { closeSync, openSync } from 'node:fs';
import { errorCodeOf } from '../base/failure.ts';

/**
 * Makes an empty file for SQLite to open, which by itself would make it readable for all (0644). The log and its index get the mode
 * of the file. One that exists is not opened: closing it would release this process's locks on it. @throws Error of node:fs
 */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (failure) {
    if (errorCodeOf(failure) !== 'EEXIST') throw failure;
  }
}
