/** A small file of the state folder that its first start writes and every later one reads. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../base/failure.ts';
import { FolderInPlaceError, unusableStateDir } from './folder-fault.ts';
import { makeFolder } from './make-folder.ts';

/** @returns undefined when there is no file @throws Error of node:fs, or one that names a folder in the file's place */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (failure) {
    const code = errorCodeOf(failure);
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR') throw new FolderInPlaceError(path);
    throw failure;
  }
}

/**
 * The text of a file, without blanks around it; for its owner alone (mode 0600).
 * @param stateDir made when missing
 * @param fresh its first text
 * @throws StateError when the folder cannot be used
 */
export function keptFile(stateDir: string, name: string, fresh: () => string): string {
  const path = join(stateDir, name);
  try {
    makeFolder(stateDir);
    let text = readIfThere(path);
    if (text === undefined) {
      text = fresh();
      // Writes another name and renames it, so that a process that dies here leaves no partial file for the next start.
      const temporary = `${path}.tmp`;
      writeFileSync(temporary, `${text}\n`, { mode: 0o600, flush: true });
      renameSync(temporary, path);
    }
    return text.trim();
  } catch (failure) {
    throw unusableStateDir(stateDir, failure);
  }
}
