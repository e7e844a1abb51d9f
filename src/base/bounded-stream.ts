/** Reads a stream of bytes up to a bound. */

/**
 * Stops within one chunk after `bytesMax`; the unread rest is the caller's to discard.
 * @returns undefined when there are more bytes than that; rejects as the stream does
 */
export async function readAtMost(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    byteCount += value.length;
    if (byteCount > bytesMax) return undefined;
    chunks.push(value);
  }
  const bytes = new Uint8Array(byteCount);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
