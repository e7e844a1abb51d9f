/**
 * node:http around the handler, through @hono/node-server: its light Request and Response are what keeps an adapter near
 * the bare server (0.92x; undici's own objects 0.5x).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import { type Caller, IDLE_TIMEOUT_SECONDS, type Listener, type ListenOptions } from './listen.ts';

/** What the adapter hands to a Fetch handler beside the request. */
interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** How long a drained connection may outlive its last answer at shutdown. */
const IDLE_SWEEP_MS = 25;

/**
 * Answers from node:http's own objects. The adapter's Request is light until its headers or its signal are asked for; undici's
 * Headers and Request, which it then makes, cost as much as everything else about an unpaid offer.
 */
class NodeCaller implements Caller {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;

  constructor({ incoming, outgoing }: NodeBindings) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get address(): string {
    return this.#incoming.socket.remoteAddress ?? '';
  }

  /** From the raw list, where a repeated header is still there twice; `incoming.headers` drops some of them. */
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

  isDisconnected(): boolean {
    return this.#outgoing.destroyed;
  }

  onDisconnect(listener: DisconnectListener): void {
    this.#outgoing.on('close', () => listener.handleEvent());
  }
}

export async function listen({ host, port, fetch, unreadable }: ListenOptions): Promise<Listener> {
  const listener = getRequestListener((request, bindings) => fetch(request, new NodeCaller(bindings as NodeBindings)), {
    errorHandler: unreadable,
    hostname: 'localhost',
  });
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    // Nothing here reads Host, and a malformed one must not keep a Request from being made.
    incoming.headers.host = 'localhost';
    void listener(incoming, outgoing);
  });
  server.keepAliveTimeout = IDLE_TIMEOUT_SECONDS * 1000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // A connection kept alive by the client falls idle when its last answer has gone out, and nobody else closes it then.
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(timer);
    },
  };
}
