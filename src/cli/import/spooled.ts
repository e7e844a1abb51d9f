/**
 * Reads streams to their end before an import begins: its transaction blocks the watch, and a producer may be slow.
 * Streams are stdin and anything that is no regular file, such as the pipe of `<(curl ...)`.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { type Bytes, STDIN } from '../../ingest/input/input.ts';

const READ_BYTES = 256 * 1024;

async function isStream(path: string): Promise<boolean> {
  if (path === STDIN) return true;
  const facts = await stat(path).catch(() => undefined);
  return facts !== undefined && !facts.isFile() && !facts.isDirectory();
}

/** @returns those of the paths that are streams, each once */
export async function streamsAmong(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(isStream));
  return [...new Set(paths.filter((_path, i) => found[i]))];
}

/**
 * @param stdin the bytes of {@link STDIN}
 * @returns the bytes of each path, once @throws SnapshotError when there is no room
 */
export async function spooledStreams(
  paths: readonly string[],
  stdin: Bytes,
  spill: Spill,
): Promise<ReadonlyMap<string, Bytes>> {
  const streams = new Map<string, Bytes>();
  for (const path of paths) streams.set(path, await spooled(path === STDIN ? stdin : createReadStream(path), spill));
  return streams;
}

/** @param source if it fails, the returned bytes throw that failure after everything before it */
async function spooled(source: Bytes, spill: Spill): Promise<Bytes> {
  let start: number | undefined;
  let byteCount = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const chunk of source) {
      const at = spill.append(chunk);
      start ??= at;
      byteCount += chunk.length;
    }
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    failure = { error };
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < byteCount; at += READ_BYTES) {
      yield spill.read((start ?? 0) + at, Math.min(READ_BYTES, byteCount - at)).slice();
    }
    if (failure !== undefined) throw failure.error;
  }
  return read();
}
