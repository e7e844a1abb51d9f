/** Explains why a folder cannot be used, and what to do about it. */
import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCodeOf, firstLineOf } from '../base/failure.ts';
import { printable } from '../base/printable.ts';
import { CANNOT_OPEN, FULL, READ_ONLY, resultCodeOf } from './sqlite/result-code.ts';
import { StateError } from './state-error.ts';

const OWNER = 'give it to the user that runs this, or name another folder';

/** The folder, or its nearest existing parent. */
export function nearestFolder(path: string): string {
  let found = resolve(path);
  while (!existsSync(found) && found !== dirname(found)) found = dirname(found);
  return found;
}

/** The link, dangling or circular, that keeps the path from existing; undefined = the path exists, or another cause keeps it from. */
export function linkToNothing(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const above = nearestFolder(path);
  const [first = ''] = relative(above, resolve(path)).split(sep);
  const missing = join(above, first);
  try {
    return lstatSync(missing, { throwIfNoEntry: false })?.isSymbolicLink() ? missing : undefined;
  } catch {
    return undefined; // this user may not look into the folder above
  }
}

/** The system's error code for a write there; undefined = this user may write. */
function refusalCodeOf(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (failure) {
    return errorCodeOf(failure) ?? 'EACCES';
  }
}

/** The system names no path when it finds a folder. Docker makes one for a mounted file that does not exist. */
export class FolderInPlaceError extends Error {
  constructor(path: string) {
    super(`${path} is a folder, not a file; remove it`);
  }
}

/** One line if this user may not even see whether the file is in the folder. */
export function closedFolder(folder: string, file: string): string | undefined {
  try {
    statSync(join(folder, file));
  } catch (failure) {
    if (errorCodeOf(failure) === 'EACCES')
      return `${printable(folder)} is closed to this user: run this as the user that runs the server`;
  }
  return undefined;
}

/**
 * One line without the folder's name; for any other failure, its first line. @param failure of node:fs or node:sqlite
 */
export function folderFaultOf(folder: string, failure: unknown): string {
  const sqlite = resultCodeOf(failure);
  const above = nearestFolder(folder);
  const place = above === resolve(folder) ? 'it' : above;
  if (!statSync(above).isDirectory()) return `${place} is a file, not a folder; name another one`;
  const link = linkToNothing(folder);
  if (link !== undefined) {
    return `${link === resolve(folder) ? 'it' : link} is a link to nothing; mend it, or name another folder`;
  }
  const code = sqlite === FULL ? 'ENOSPC' : errorCodeOf(failure);
  const refusalCode = refusalCodeOf(above);
  switch (refusalCode === 'EROFS' ? refusalCode : code) {
    case 'EROFS':
      return `${place} is on a read-only file system; name another folder`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `there is no space left at ${place}; free some, or name another folder`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not write to ${place}; ${OWNER}`;
  }
  if (refusalCode !== undefined) return `this user may not write to ${place}; ${OWNER}`;
  // SQLite reports only that it cannot open or write a file.
  if (sqlite === READ_ONLY || sqlite === CANNOT_OPEN) return `this user may not write the files in ${place}; ${OWNER}`;
  if (code === 'ENOENT') return `no folder can be made in ${place}; name another one`;
  return firstLineOf(failure);
}

/** The error of a state folder that cannot be used. @param failure of node:fs or node:sqlite */
export const unusableStateDir = (stateDir: string, failure: unknown): StateError =>
  new StateError(`STATE_DIR ${stateDir} cannot be used: ${folderFaultOf(stateDir, failure)}`, { cause: failure });
