/**
 * node:http around the handler, through @hono/node-server: its lightweight Request and Response keep it close to the speed of
 * the bare server, which undici's own objects would halve.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../base/clock.ts';
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import { nodeHttp } from '../process/node-http.ts';
import {
  HEAD_TIMEOUT_MS,
  IDLE_TIMEOUT_SECONDS,
  OUTPUT_CHECK_MS,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_MS,
} from './limits.ts';
import type { ClientConnection, Listener, ListenOptions } from './listen.ts';
import { ParsedMessage } from './parsed-message.ts';
import { type HandleRequest, ServedSockets } from './served-sockets.ts';

/** What @hono/node-server passes to a Fetch handler beside the request. */
interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** How long a kept-alive connection may outlive its last answer at shutdown. */
const IDLE_SWEEP_MS = 25;

/**
 * Answers from node:http's own objects. The Request of @hono/node-server is cheap until someone reads its headers or signal:
 * then it makes undici's Headers and Request, which double the cost of an unpaid offer.
 */
class NodeConnection implements ClientConnection {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;

  constructor({ incoming, outgoing }: NodeBindings) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get address(): string {
    return this.#incoming.socket.remoteAddress ?? '';
  }

  /** Reads the raw list: it has every repeated header, and Host as sent, where `incoming.headers` does not. */
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

  delivery(): 'pending' | 'done' | 'lost' {
    if (this.#outgoing.writableFinished) return 'done';
    return this.#outgoing.destroyed ? 'lost' : 'pending';
  }

  onDisconnect(listener: DisconnectListener): void {
    this.#outgoing.on('close', () => listener.handleEvent());
  }

  /**
   * @hono/node-server then cancels the body's stream; it would write an error of the stream to stderr. Resets the connection,
   * because to a client or proxy of HTTP/1.0 its orderly end would be the end of the answer.
   */
  cut(): void {
    const { socket } = this.#outgoing;
    // An answer behind another one on its connection has no socket yet.
    if (socket === null) this.#outgoing.destroy();
    else socket.resetAndDestroy();
  }
}

/** The times are for unfinished heads and requests, and for idle connections; node:http closes these itself. */
const SERVER_OPTIONS = {
  IncomingMessage: ParsedMessage,
  headersTimeout: HEAD_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  keepAliveTimeout: IDLE_TIMEOUT_SECONDS * 1000,
};

/** @throws the error of node:http, with its code, when the address cannot be listened on */
export async function listen({ host, port, fetch, unreadable, bounds }: ListenOptions): Promise<Listener> {
  let answer: HandleRequest | undefined;
  /** Request and Response are what takes longest to load, and a server that starts has no use for them yet. */
  const adapter = async (): Promise<HandleRequest> => {
    const { getRequestListener } = await import('@hono/node-server');
    answer ??= getRequestListener((request, bindings) => fetch(request, new NodeConnection(bindings as NodeBindings)), {
      errorHandler: unreadable,
      hostname: 'localhost',
    });
    return answer;
  };
  const handle: HandleRequest = (incoming, outgoing) =>
    answer === undefined ? adapter().then((loaded) => loaded(incoming, outgoing)) : answer(incoming, outgoing);
  const sockets = new ServedSockets(bounds, handle, systemClock);
  const server = nodeHttp().createServer(SERVER_OPTIONS, (incoming, outgoing) => {
    // A malformed Host would keep @hono/node-server from making a Request. `NodeConnection.header` still gives the one sent.
    incoming.headers.host = 'localhost';
    sockets.receive(incoming, outgoing);
  });
  if (bounds.connectionsMax > 0) server.maxConnections = bounds.connectionsMax;
  server.on('connection', (socket) => sockets.open(socket));
  server.on('drop', () => sockets.countRefused());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const check = setInterval(() => sockets.check(), OUTPUT_CHECK_MS).unref();
  return {
    port: (server.address() as AddressInfo).port,
    start: () => void setImmediate(adapter),
    metrics: (page) => sockets.metrics(page),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // A kept-alive connection becomes idle after its last answer; node:http does not close it then.
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(sweep);
      clearInterval(check);
      clearTimeout(timer);
    },
  };
}
