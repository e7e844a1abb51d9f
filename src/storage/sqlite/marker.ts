/**
 * The marker beside the state file: it says that there is one and how often it was opened. If the file is missing or older
 * than the marker, the file was removed or restored, and it may not know every used payment (reliability 124).
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** In the state folder. */
export const MARKER_FILE = 'state.json';

export interface Marker {
  /** Starts so far. The state file counts each start before the marker does. */
  readonly generation: number;
  /** The level at which the log was written. */
  readonly sync: 'full' | 'normal';
}

/** null: there is none. undefined: it is damaged. */
export function readMarker(stateDir: string): Marker | null | undefined {
  let text: string;
  try {
    text = readFileSync(join(stateDir, MARKER_FILE), 'utf8');
  } catch (failure) {
    if ((failure as { code?: unknown }).code === 'ENOENT') return null;
    throw failure;
  }
  try {
    const { generation, sync } = JSON.parse(text) as Record<string, unknown>;
    if (!Number.isSafeInteger(generation) || (sync !== 'full' && sync !== 'normal')) return undefined;
    return { generation: generation as number, sync };
  } catch {
    return undefined;
  }
}

/** When this returns, the marker is on disk, whole or not at all. */
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
