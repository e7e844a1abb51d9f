/**
 * The marker beside the state file records that the file exists and how often servers opened it. A state file that is missing
 * or older than the marker was removed or restored from a backup, and may not know every used payment (reliability 124).
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../kept-file.ts';

/** In the state folder. */
export const MARKER_FILE = 'state.json';

export interface Marker {
  /** Number of starts. The state file counts each start before the marker does. */
  readonly generation: number;
  /** The sync level of the process that wrote the log. */
  readonly sync: 'full' | 'normal';
  /** The state is being copied to a database, or was: no process may sell from this folder any more. */
  readonly moved?: 'moving' | 'moved';
}

/** Why no server starts on a folder whose marker says `moved`. */
export const movedAway = (stateDir: string): string =>
  `the state of ${stateDir} was copied to a database, which has it now`;

/** What the operator does about such a folder. */
export const MOVED_REMEDY = 'set DATABASE_URL; if the copy was cut off, run `state copy` again first';

/** The state file is not the one that this folder used last, or not the one that is used now. */
export class LostStateError extends Error {
  readonly remedy: string;

  constructor(
    message: string,
    remedy = 'clients could use their payments again; restore it, or discard the state with STATE_RESET=true',
  ) {
    super(message);
    this.remedy = remedy;
  }
}

/** Reads the marker; null = there is none, undefined = it is damaged. */
export function readMarker(stateDir: string): Marker | null | undefined {
  const text = readIfThere(join(stateDir, MARKER_FILE));
  if (text === undefined) return null;
  try {
    const { generation, sync, moved } = JSON.parse(text) as Record<string, unknown>;
    if (!Number.isSafeInteger(generation) || (sync !== 'full' && sync !== 'normal')) return undefined;
    if (moved !== undefined && moved !== 'moving' && moved !== 'moved') return undefined;
    return { generation: generation as number, sync, ...(moved === undefined ? {} : { moved }) };
  } catch {
    return undefined;
  }
}

/** Writes the marker atomically; it is on disk when this returns. */
export function writeMarker(stateDir: string, marker: Marker): void {
  const path = join(stateDir, MARKER_FILE);
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(marker)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(stateDir);
}

function syncFolder(path: string): void {
  if (process.platform === 'win32') return; // folders cannot be opened there
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
