/**
 * A snapshot as a file: the source that the catalogue reads from, and the way a new one comes to be.
 *
 * The descriptor stays open, so a new file renamed over this one changes nothing for its readers. A write into the file
 * itself shows in its size or modification time, which is checked when cold rows are read.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from '../../base/failure.ts';
import { printable } from '../../base/printable.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../../catalogue/snapshot/source.ts';

/** Most bytes of one system call: Linux transfers at most 2^31 - 4096. */
const READ_BYTES_MAX = 2 ** 30;

/** A snapshot's file as a source, and what another thread needs to read it. */
export interface SnapshotFile extends SnapshotSource {
  /** Valid in every thread of the process until this source is closed. */
  readonly descriptor: number;
  /** Whether the path now leads to another file, or to the same file with other content. */
  isReplaced(): boolean;
}

/** @throws SnapshotError when there is no such file, it cannot be read, or it is no regular file */
export function openSnapshotFile(path: string): SnapshotFile {
  let descriptor: number;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for a writer. Windows has neither.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = codeOf(error);
    const reason = code === 'ENOENT' ? 'there is no such file' : `cannot be opened (${code})`;
    throw new SnapshotError(`${printable(path)}: ${reason}`, { cause: error });
  }
  try {
    const opened = fstatSync(descriptor, { bigint: true });
    const openedMark = markOf(opened);
    if (!opened.isFile()) throw new SnapshotError(`${printable(path)}: is not a file`);
    return {
      ...descriptorSource(path, descriptor, Number(opened.size)),
      descriptor,
      isUnchanged: () => {
        const { size, mtimeNs } = fstatSync(descriptor, { bigint: true });
        return size === opened.size && mtimeNs === opened.mtimeNs;
      },
      isReplaced: () => (fileMark(path) ?? openedMark) !== openedMark,
      close: () => {
        // Closing a descriptor twice could close a file that was opened in between.
        if (descriptor !== -1) closeSync(descriptor);
        descriptor = -1;
      },
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Identifies the file behind a path and its state; undefined if there is none or it cannot be examined (loading it then
 * reports why). Two marks are equal only if nothing replaced the file or wrote into it in between.
 */
export function fileMark(path: string): string | undefined {
  try {
    return markOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

const markOf = ({ dev, ino, size, mtimeNs }: BigIntStats): string => `${dev} ${ino} ${size} ${mtimeNs}`;

/**
 * The bytes behind a descriptor as a source, for the thread that checks them. It neither closes the descriptor nor
 * checks whether the file changed: the thread that opened it does both.
 */
export function descriptorSource(path: string, descriptor: number, byteLength: number): SnapshotSource {
  let transient = Buffer.alloc(0);
  return {
    name: printable(path),
    byteLength,
    // Never from the pool of small buffers, whose memory cannot be transferred to another thread.
    read: (offset, length) => filled(path, descriptor, offset, Buffer.allocUnsafeSlow(length)),
    readTransient: (offset, length) => {
      // One buffer for all reads: with fresh ones Bun held 0.9 GB of garbage while reading the cold text of 10 million jobs.
      if (transient.length < length) transient = Buffer.allocUnsafeSlow(length);
      return filled(path, descriptor, offset, transient.subarray(0, length));
    },
    readInto: (offset, into) => readAt(path, descriptor, offset, into),
    isUnchanged: () => true,
    close: () => {},
  };
}

function filled(path: string, descriptor: number, offset: number, bytes: Buffer): Uint8Array {
  const count = readAt(path, descriptor, offset, bytes);
  return count === bytes.length ? bytes : bytes.subarray(0, count);
}

/** @returns bytes read, fewer than there is room for at the end of the file */
function readAt(path: string, descriptor: number, offset: number, bytes: Uint8Array): number {
  const { length } = bytes;
  let done = 0;
  try {
    while (done < length) {
      const count = readSync(descriptor, bytes, done, Math.min(length - done, READ_BYTES_MAX), offset + done);
      if (count === 0) break;
      done += count;
    }
  } catch (error) {
    throw new SnapshotError(`${printable(path)}: cannot be read (${codeOf(error)})`, { cause: error });
  }
  return done;
}

/**
 * Writes a snapshot so that after a power failure `path` holds either the old content or the whole new file: a
 * temporary file beside it, synced, renamed, and the directory synced. The temporary file is removed on failure.
 * @param signal gives it up before the rename
 * @throws SnapshotError when the file system refuses; whatever `chunks` throws; the reason of the signal
 */
export async function writeSnapshotFile(
  path: string,
  chunks: Iterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx');
    try {
      for (const chunk of chunks) {
        signal?.throwIfAborted();
        for (let done = 0; done < chunk.length; ) {
          const { bytesWritten } = await file.write(chunk, done, Math.min(chunk.length - done, READ_BYTES_MAX));
          done += bytesWritten;
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    if (!isSystemError(error)) throw error;
    throw new SnapshotError(`${printable(path)}: cannot be written (${codeOf(error)})`, { cause: error });
  }
}

/**
 * Removes temporary files left by killed builds of this snapshot, but not those of builds under way, which were written
 * to recently.
 * @param beforeMs time of the last write, milliseconds since the epoch
 * @throws SnapshotError when this user may not list or change the folder
 */
export function removeLeftovers(path: string, beforeMs: number): void {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(start) || !/^[0-9a-f-]{36}(?:\.spill)?\.tmp$/.test(name.slice(start.length))) continue;
      const leftover = join(folder, name);
      const found = statSync(leftover, { throwIfNoEntry: false });
      if (found !== undefined && found.mtimeMs < beforeMs) rmSync(leftover, { force: true });
    }
  } catch (error) {
    throw new SnapshotError(`${printable(folder)}: leftovers of builds cannot be removed (${codeOf(error)})`, {
      cause: error,
    });
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory to sync it.
  if (process.platform === 'win32') return;
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

function codeOf(error: unknown): string {
  return errorCodeOf(error) ?? String(error);
}
