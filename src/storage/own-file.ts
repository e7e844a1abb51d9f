/** A file that its owner alone may read, in a folder that others may enter. */
import { closeSync, openSync } from 'node:fs';
import { errorCodeOf } from '../base/failure.ts';

/**
 * Makes the file, empty, for SQLite to open, which would leave it readable for all (0644); its log and index get the mode of the
 * file. One that exists is not opened: closing it would release the locks that this process has on it. @throws Error of node:fs
 */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (failure) {
    if (errorCodeOf(failure) !== 'EEXIST') throw failure;
  }
}
