/** Writes a response as data to node:http. */
import type { ServerResponse } from 'node:http';
import type { PlainResponse } from '../../http/plain-response.ts';

/** Statuses whose responses have neither body nor length (RFC 9110 §8.6). */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

/** @throws the error of node:http for a header that cannot be sent; nothing is written then */
export function writeResponse({ status, headers, body }: PlainResponse, outgoing: ServerResponse): void {
  if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body);
    // A text of ASCII is one byte a character, and written as such it needs no transcoding.
    outgoing
      .writeHead(status, { ...headers, 'content-length': bytes })
      .end(body, bytes === body.length ? 'latin1' : 'utf8');
  } else if (body === null) {
    outgoing.writeHead(status, BODYLESS.has(status) ? headers : { ...headers, 'content-length': 0 }).end();
  } else if (body instanceof Uint8Array) {
    outgoing.writeHead(status, { ...headers, 'content-length': body.byteLength }).end(body);
  } else {
    outgoing.writeHead(status, headers).flushHeaders();
    void writeStream(body.getReader(), outgoing);
  }
}

/** Reads a chunk once the previous one was accepted. Never rejects; an error of the stream ends the connection. */
async function writeStream(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  let goOn = (): void => {};
  const end = (): void => {
    goOn();
    reader.cancel().catch(() => {}); // the read below sees an error of the stream
  };
  // If it closed while the answer was made, no further event reports it.
  if (outgoing.destroyed) end();
  outgoing.on('drain', () => goOn()).on('close', end);
  try {
    while (!outgoing.destroyed) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) {
        outgoing.end();
        return;
      }
      if (outgoing.write(value)) continue;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
  } catch {
    outgoing.destroy();
  }
}
