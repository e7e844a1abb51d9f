/**
 * A request of node:http as the app reads it, and the connection of its client: one object in place of a Fetch `Request`,
 * which costs more than the rest of a small answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import { GatheredBytes } from '../../base/gathered-bytes.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { DirectBody } from '../../http/body.ts';
import type { ClientConnection } from './listen.ts';

/** Whether the head of a request says that a body follows. */
export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

export class NodeExchange implements ClientConnection, DirectBody {
  readonly url: string;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;

  /** @param url the request's target, as {@link requestTargetOf} gives it */
  constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.url = url;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get method(): string {
    return this.#incoming.method as string; // a request always has one
  }

  get address(): string {
    return this.#incoming.socket.remoteAddress ?? '';
  }

  /** The exchange itself, under the name that a `Request` has for its headers. */
  get headers(): { get(name: string): string | null } {
    return { get: (name) => this.header(name) };
  }

  /** Reads the raw list: it has every repeated header, and `incoming.headers` would build an object of all. */
  header(name: string): string | null {
    const { rawHeaders } = this.#incoming;
    let value: string | null = null;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const key = rawHeaders[i]!;
      if (key.length !== name.length || key.toLowerCase() !== name) continue;
      const part = rawHeaders[i + 1]!;
      value = value === null ? part : `${value}, ${part}`;
    }
    return value;
  }

  get hasBody(): boolean {
    return announcesBody(this.#incoming);
  }

  readAtMost(bytesMax: number): MaybePromise<Uint8Array | undefined> {
    const incoming = this.#incoming;
    if (incoming.destroyed) return Promise.reject(new Error('the client has disconnected'));
    const gathered = new GatheredBytes();
    if (incoming.complete) {
      for (;;) {
        // One piece at a time, though the documentation has it that all come at once.
        const piece = incoming.read() as Buffer | null;
        if (piece === null) return gathered.length > bytesMax ? undefined : gathered.bytes();
        gathered.add(piece);
      }
    }
    return new Promise((resolve, reject) => {
      const collect = (chunk: Buffer): void => {
        if (gathered.length + chunk.length <= bytesMax) {
          gathered.add(chunk);
          return;
        }
        gathered.clear();
        incoming.off('data', collect).pause();
        resolve(undefined);
      };
      incoming
        .on('data', collect)
        .on('end', () => {
          resolve(gathered.bytes());
          // Clears it, because the request holds the listeners until its answer, which may take seconds.
          gathered.clear();
        })
        .on('close', () => {
          if (!incoming.complete) reject(new Error('the client has disconnected'));
        });
    });
  }

  isDisconnected(): boolean {
    return this.#outgoing.destroyed;
  }

  /** node:http reports an answer as finished even if its socket has failed meanwhile. */
  onDelivered(listener: () => void): void {
    const { socket } = this.#incoming;
    this.#outgoing.on('finish', () => {
      if (!socket.destroyed) listener();
    });
  }

  /** For a client that has already disconnected no event will follow. */
  onDisconnect(listener: DisconnectListener): void {
    if (this.#outgoing.closed) setImmediate(() => listener.handleEvent());
    else this.#outgoing.on('close', () => listener.handleEvent());
  }

  /** Resets the connection: an HTTP/1.0 client or proxy would take an orderly close for the end of the answer. */
  cut(): void {
    this.#incoming.socket.resetAndDestroy();
  }
}
