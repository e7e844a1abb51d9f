/** Reads a stream of bytes up to a bound. */
import { GatheredBytes } from './gathered-bytes.ts';

/**
 * Stops within one chunk after `bytesMax`; the caller discards the unread rest.
 * @returns undefined when there are more bytes; rejects as the stream does
 */
export async function readAtMost(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const gathered = new GatheredBytes();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return gathered.bytes();
    if (gathered.length + value.length > bytesMax) return undefined;
    gathered.add(value);
  }
}
