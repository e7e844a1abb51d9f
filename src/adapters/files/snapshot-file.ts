/**
 * A snapshot as a file: opens one as the catalogue's source, and writes a new one.
 *
 * The descriptor stays open, so renaming a new file over this one changes nothing for its readers. A write into the file
 * itself changes its size or modification time; the catalogue checks both (`intact`) before it reads cold rows.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCodeOf } from '../../base/failure.ts';
import { SnapshotError, type SnapshotSource } from '../../catalogue/snapshot/snapshot.ts';

/** Most bytes of one system call: Linux transfers at most 2^31 - 4096. */
const READ_BYTES_MAX = 2 ** 30;

/** @throws SnapshotError when the file does not exist, cannot be read, or is no regular file */
export function openSnapshotFile(path: string): SnapshotSource {
  let descriptor: number;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for a writer. Windows has neither.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new SnapshotError(`${path}: cannot be opened (${errorCodeOf(error) ?? error})`, { cause: error });
  }
  try {
    const opened = fstatSync(descriptor, { bigint: true });
    let glanced = Buffer.alloc(0);
    if (!opened.isFile()) throw new SnapshotError(`${path}: is not a file`);
    return {
      name: path,
      byteLength: Number(opened.size),
      read: (offset, length) => readAt(path, descriptor, offset, Buffer.allocUnsafe(length)),
      glance: (offset, length) => {
        // One buffer for all glances: with a new one each, Bun keeps the discarded ones while it walks through all cold text.
        if (glanced.length < length) glanced = Buffer.allocUnsafe(length);
        return readAt(path, descriptor, offset, glanced.subarray(0, length));
      },
      intact: () => {
        const now = fstatSync(descriptor, { bigint: true });
        return now.size === opened.size && now.mtimeNs === opened.mtimeNs;
      },
      close: () => {
        // After the first close the number may belong to another file.
        if (descriptor !== -1) closeSync(descriptor);
        descriptor = -1;
      },
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function readAt(path: string, descriptor: number, offset: number, bytes: Buffer): Uint8Array {
  const { length } = bytes;
  let done = 0;
  try {
    while (done < length) {
      const count = readSync(descriptor, bytes, done, Math.min(length - done, READ_BYTES_MAX), offset + done);
      if (count === 0) break;
      done += count;
    }
  } catch (error) {
    throw new SnapshotError(`${path}: cannot be read (${errorCodeOf(error) ?? error})`, { cause: error });
  }
  return done === length ? bytes : bytes.subarray(0, done);
}

/**
 * Writes a snapshot so that `path` holds either its old content or the whole new file, even when power fails: it writes a
 * temporary file beside it, syncs, renames, and syncs the directory. A failure removes the temporary file.
 * @throws SnapshotError when the file system refuses; also any error of `chunks`
 */
export async function writeSnapshotFile(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx');
    try {
      for (const chunk of chunks) {
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
  } catch (error) {
    await unlink(temporary).catch(() => {});
    if (!isSystemError(error)) throw error;
    throw new SnapshotError(`${path}: cannot be written (${errorCodeOf(error) ?? error})`, { cause: error });
  }
  await syncDirectory(dirname(path));
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory.
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
