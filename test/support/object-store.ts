/** An object store with one object, over http: entity tags or times, `If-None-Match`, and answers that a test holds back. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class ObjectStore {
  readonly #server: Server;
  port = 0;
  /** undefined: it answers 503. */
  object: { readonly bytes: Uint8Array; readonly etag?: string; readonly modified?: Date } | undefined;
  /** Statuses of its answers so far. */
  readonly statuses: number[] = [];
  /** Answers that have not ended yet. */
  openCount = 0;
  /** Not undefined: a body is cut after so many bytes, and ends with its connection, as through a proxy that speaks HTTP/1.0. */
  cutAt: number | undefined;
  ignoresConditions = false;
  /** Bodies are sent when this resolves. */
  held: Promise<void> = Promise.resolve();

  constructor() {
    this.#server = createServer((request, response) => {
      const { object } = this;
      // Like stores that know no list of tags.
      const isKnown = !this.ignoresConditions && (request.headers['if-none-match'] ?? '') === object?.etag;
      const status = object === undefined ? 503 : isKnown ? 304 : 200;
      this.statuses.push(status);
      this.openCount++;
      response.once('close', () => this.openCount--);
      const { cutAt } = this;
      response.useChunkedEncodingByDefault = cutAt === undefined;
      if (object?.etag !== undefined) response.setHeader('etag', object.etag);
      if (object?.modified !== undefined) response.setHeader('last-modified', object.modified.toUTCString());
      response.writeHead(status);
      response.flushHeaders();
      void this.held.then(() => response.end(status === 200 ? object?.bytes.subarray(0, cutAt) : undefined));
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) =>
      this.#server.listen(0, '127.0.0.1', () => {
        this.port = (this.#server.address() as AddressInfo).port;
        resolve();
      }),
    );
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
