/**
 * Inspects a state folder without changing it, whether or not a server runs on it: takes no lock, makes no checkpoint,
 * creates no file. It does not read the state of a running server, because the server checks that itself.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { firstFindingOf } from './check-verdict.ts';
import { OtherReleaseError } from './database.ts';
import { LOCK_FILE } from './lock.ts';
import { isDamagedLogFile } from './log-check.ts';
import { MARKER_FILE, movedAway, readMarker } from './marker.ts';
import { openReadOnly } from './read-only.ts';
import { STATE_FILE } from './state.ts';

/** `isCopy`: the file came without its marker, so the next start refuses what may have been used before. */
export type StateFound =
  /** No server has used the folder. */
  | { readonly kind: 'new' }
  /** `processId`: the process that holds the lock. */
  | { readonly kind: 'in-use'; readonly processId: number }
  | { readonly kind: 'sound'; readonly bytes: number; readonly isCopy: boolean }
  /** The last server did not close the state; its log seems whole, and the next start recovers it. */
  | { readonly kind: 'unclean'; readonly logBytes: number; readonly isCopy: boolean }
  /** A server would not start, or would accept no payments; `reason` is one line. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** The same, because another release wrote the file. */
  | { readonly kind: 'other-release'; readonly reason: string }
  /** The same, because a database has the state now. */
  | { readonly kind: 'moved'; readonly reason: string };

const SYSTEM_LOCKS = '/proc/locks';

export type LockHolder =
  | { readonly kind: 'held'; readonly processId: number }
  | { readonly kind: 'none' }
  /** The system does not list its locks. */
  | { readonly kind: 'unknown' };

/**
 * The process that holds the folder's lock. It reads the system's list of locks (Linux): asking SQLite would take the
 * lock for a moment, and a server that starts in that moment would fail. A holder that this process cannot see (in
 * another container) counts as none.
 */
export function lockHolder(stateDir: string): LockHolder {
  const path = join(stateDir, LOCK_FILE);
  if (!existsSync(path)) return { kind: 'none' };
  if (!existsSync(SYSTEM_LOCKS)) return { kind: 'unknown' };
  const { ino } = statSync(path);
  const held = new RegExp(`WRITE (\\d+) [0-9a-f]+:[0-9a-f]+:${ino} `);
  const processId = Number(held.exec(readFileSync(SYSTEM_LOCKS, 'utf8'))?.[1] ?? 0);
  return processId > 0 ? { kind: 'held', processId } : { kind: 'none' };
}

/** The fault of a file that no server uses; undefined = none. @throws Error as {@link openReadOnly} */
function problemOf(path: string, generationMin: number): string | undefined {
  const connection = openReadOnly(path, { isAtRest: true });
  try {
    const first = (sql: string): unknown => Object.values(connection.row(sql) ?? {})[0];
    const verdict = String(first('PRAGMA quick_check(1)'));
    if (verdict !== 'ok') return `it is damaged: ${firstFindingOf(verdict)}`;
    const generation = first("SELECT value FROM meta WHERE name = 'generation'");
    if (typeof generation !== 'number' || generation < generationMin) return 'it is an older copy';
    return undefined;
  } finally {
    connection.close();
  }
}

function foundAtRest(stateDir: string): StateFound {
  const path = join(stateDir, STATE_FILE);
  const marker = readMarker(stateDir);
  if (marker === undefined) return { kind: 'unusable', reason: `${join(stateDir, MARKER_FILE)} is damaged` };
  if (marker?.moved !== undefined) return { kind: 'moved', reason: movedAway(stateDir) };
  const bytes = existsSync(path) ? statSync(path).size : 0;
  if (bytes === 0) {
    return marker === null
      ? { kind: 'new' }
      : { kind: 'unusable', reason: `${path} is missing, although the folder had one` };
  }
  const isCopy = marker === null;
  const log = `${path}-wal`;
  const logBytes = existsSync(log) ? statSync(log).size : 0;
  if (logBytes > 0) {
    const isDamaged = marker?.sync !== 'normal' && isDamagedLogFile(log);
    return isDamaged
      ? { kind: 'unusable', reason: `${log} is damaged in the middle` }
      : { kind: 'unclean', logBytes, isCopy };
  }
  try {
    const problem = problemOf(path, marker?.generation ?? 0);
    return problem === undefined
      ? { kind: 'sound', bytes, isCopy }
      : { kind: 'unusable', reason: `${path}: ${problem}` };
  } catch (failure) {
    const kind = failure instanceof OtherReleaseError ? 'other-release' : 'unusable';
    return { kind, reason: `${path}: ${messageOf(failure)}` };
  }
}

/** @throws Error of the file system when the folder cannot be read */
export function inspectState(stateDir: string): StateFound {
  const before = lockHolder(stateDir);
  if (before.kind === 'held') return { kind: 'in-use', processId: before.processId };
  const found = foundAtRest(stateDir);
  // A server that started in the meantime may have written during the inspection.
  const after = lockHolder(stateDir);
  return after.kind === 'held' ? { kind: 'in-use', processId: after.processId } : found;
}
