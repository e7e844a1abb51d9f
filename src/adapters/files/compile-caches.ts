/**
 * The folder of the runtime's compile cache (main.ts), with a subfolder for each version and build of a runtime, as the
 * runtime names them. Nothing else removes those of old versions.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DAY_MS } from '../../base/durations.ts';

/** Long enough that a return to an older version within a month finds its code. */
export const UNUSED_MS = 30 * DAY_MS;

/** A version, an architecture, and hexadecimal tags of the build and of the user: `v26.10.0-x64-310b2ce3-0`. */
const NAME = /^v\d+\.\d+\.\d+[\w.-]*-[0-9a-f]{8,16}-\d+$/;

/**
 * Removes the folders of other versions and builds in which nothing was written for thirty days; other names, and
 * whatever is no folder, stay. A start without its folder just compiles again, so a process that still reads one loses
 * nothing. Never rejects: what cannot be removed stays.
 * @param folder holds the folders of all versions @param current that of this process, which stays, however old
 */
export async function removeUnusedCaches(folder: string, current: string | undefined, nowMs: number): Promise<void> {
  // An operator who names a separate folder (NODE_COMPILE_CACHE) looks after it.
  if (current === undefined || dirname(current) !== folder) return;
  const isUnused = async (path: string): Promise<boolean> => nowMs - (await lstat(path)).mtimeMs > UNUSED_MS;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isDirectory() || !NAME.test(entry.name) || entry.name === basename(current)) continue;
    const path = join(folder, entry.name);
    try {
      if (await isUnused(path)) await rm(path, { recursive: true, force: true });
    } catch {
      // Another process may be removing it.
    }
  }
}
