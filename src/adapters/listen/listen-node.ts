/**
 * node:http around the handler. It passes on node:http's own objects and writes responses that are data: no Fetch objects.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from '../../base/clock.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { PlainResponse } from '../../http/plain-response.ts';
import { nodeHttp } from '../process/late-modules.ts';
import {
  HEAD_TIMEOUT_MS,
  IDLE_TIMEOUT_SECONDS,
  LAST_IDLE_MS,
  OUTPUT_CHECK_MS,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_MS,
} from './limits.ts';
import type { Listener, ListenOptions } from './listen.ts';
import { NodeExchange } from './node-exchange.ts';
import { ParsedMessage } from './parsed-message.ts';
import { requestTargetOf } from './request-target.ts';
import { ServedSockets } from './served-sockets.ts';
import { writeResponse } from './write-response.ts';

/** Timeouts for unfinished heads and requests and for idle connections; node:http closes these itself. */
const SERVER_OPTIONS = {
  IncomingMessage: ParsedMessage,
  headersTimeout: HEAD_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  keepAliveTimeout: IDLE_TIMEOUT_SECONDS * 1000,
};

/** How node:http answers bytes that are no request, by the code of its error; all others with 400. */
const FAULT_STATUSES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is no request, and what asks for another protocol, ends its connection. */
function endOnFaults(server: Server, sockets: ServedSockets): void {
  // As node:http does it, but behind an answer that is gathered: it would take the place of that one.
  server.on('clientError', (fault: NodeJS.ErrnoException, socket) => {
    sockets.flush();
    // Bytes behind a request with `Connection: close`: no part of HTTP, and no reason to break off the answer.
    if (fault.code === 'HPE_CLOSED_CONNECTION' && !sockets.isIdle(socket as Socket)) return;
    const status = FAULT_STATUSES[fault.code ?? ''] ?? '400 Bad Request';
    if (socket.writable && !sockets.isAnswering(socket as Socket))
      socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.destroy(fault);
  });
  // Without a listener node:http destroys the socket, also before an answer that is gathered.
  server.on('connect', (_, stream) => {
    stream.on('error', () => {});
    sockets.flush();
    stream.destroy();
  });
}

async function closeServer(server: Server, sockets: ServedSockets, graceMs: number): Promise<void> {
  sockets.beginClosing();
  // `server.close` calls it. node:http's own counts a connection as idle while its client still reads an answer.
  server.closeIdleConnections = () => {};
  let isClosed = false;
  const closed = new Promise<void>((resolve) => server.close(() => resolve())).then(() => {
    isClosed = true;
  });
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  while (!isClosed) {
    sockets.closeIdle();
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_IDLE_MS).unref())]);
    // Until the sockets have been read: a turn with many requests may have taken as long.
    await new Promise((resolve) => setImmediate(resolve));
  }
  clearTimeout(timer);
}

/** @throws the error of node:http, with its code, when the address cannot be listened on */
export async function listen({
  host,
  port,
  handle,
  unreadable,
  report,
  bounds,
}: ListenOptions<PlainResponse>): Promise<Listener> {
  const write = (response: PlainResponse, outgoing: ServerResponse): void => {
    try {
      writeResponse(response, outgoing);
    } catch (failure) {
      report(failure);
      outgoing.destroy();
    }
  };
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): MaybePromise<PlainResponse> => {
    const target = requestTargetOf(incoming.url as string); // of a request there is one
    if (target === undefined) return unreadable();
    const exchange = new NodeExchange(target, incoming, outgoing);
    return handle(exchange, exchange);
  };
  const sockets = new ServedSockets(bounds, { answer, write }, systemClock);
  const server = nodeHttp().createServer(SERVER_OPTIONS, (incoming, outgoing) => sockets.receive(incoming, outgoing));
  // For an unknown or empty expectation node:http would answer 417 without a body.
  server.on('checkExpectation', (incoming, outgoing) => sockets.receive(incoming, outgoing));
  // node:http would ask for every body before its request is judged. Here reading asks for it (reliability 170).
  server.on('checkContinue', (incoming, outgoing) => {
    incoming.once('resume', () => {
      if (!outgoing.headersSent) outgoing.writeContinue();
    });
    sockets.receive(incoming, outgoing);
  });
  endOnFaults(server, sockets);
  if (bounds.connectionsMax > 0) server.maxConnections = bounds.connectionsMax;
  server.on('connection', (socket) => sockets.open(socket));
  server.on('drop', () => sockets.countRefused());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      // From here on an error means that one connection could not be accepted (accept(2)); the server goes on.
      server.off('error', reject).on('error', report);
      resolve();
    });
  });
  const check = setInterval(() => sockets.check(), OUTPUT_CHECK_MS).unref();
  return {
    port: (server.address() as AddressInfo).port,
    metrics: (page) => sockets.metrics(page),
    async close(graceMs) {
      await closeServer(server, sockets, graceMs);
      clearInterval(check);
    },
  };
}
