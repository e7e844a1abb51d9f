/** A file that only its owner may read, in a folder that others may enter. */
import { closeSync, openSync, statSync } from 'node:fs';
import { errorCodeOf } from '../base/failure.ts';
import { FolderInPlaceError } from './folder-fault.ts';

/**
 * Creates an empty file for SQLite, which itself would create it readable for all (0644). The log and its index get the file's
 * mode. An existing file is not opened: closing it would release this process's locks on it.
 * @throws Error of node:fs, or one that names a folder in the file's place
 */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (failure) {
    if (errorCodeOf(failure) !== 'EEXIST') throw failure;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new FolderInPlaceError(path);
  }
}
