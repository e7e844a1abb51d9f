/** Stdin, read to its end before an import begins: its transaction holds up the watch, and a producer may be slow. */
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { Bytes } from '../../ingest/input/input.ts';

const READ_BYTES = 256 * 1024;

/**
 * @param source its failure is thrown by the returned bytes, after what came before it
 * @returns the same bytes, once @throws SnapshotError when there is no room
 */
export async function spooled(source: Bytes, spill: Spill): Promise<Bytes> {
  let byteCount = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const chunk of source) {
      spill.append(chunk);
      byteCount += chunk.length;
    }
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    failure = { error };
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < byteCount; at += READ_BYTES) {
      yield spill.read(at, Math.min(READ_BYTES, byteCount - at)).slice();
    }
    if (failure !== undefined) throw failure.error;
  }
  return read();
}
