/**
 * `Bun.serve` around the handler. This folder is a separate type-check project with Bun's types, so that the other sources do
 * not see Bun's globals.
 */
import { systemClock } from '../../../base/clock.ts';
import type { DisconnectListener } from '../../../base/disconnect-listener.ts';
import type { Exposition } from '../../../base/prometheus.ts';
import { bodySent } from '../../../http/respond.ts';
import { DisconnectSweep } from '../disconnect-sweep.ts';
import { IDLE_TIMEOUT_SECONDS, LAST_IDLE_MS } from '../limits.ts';
import {
  type ClientConnection,
  type ConnectionBounds,
  type Listener,
  type ListenOptions,
  RUNTIME_BODY_BYTES_MAX,
} from '../listen.ts';
import { RequestsInFlight } from '../requests-in-flight.ts';
import { TurnEnd } from '../turn-end.ts';
import { TurnShare } from '../turn-share.ts';

type Server = Bun.Server<undefined>;

/**
 * For a client that has disconnected, or whose connection closed because its next request came too early; no client
 * receives it.
 */
const unreceived = (): Response => new Response(null, { status: 503 });

/** Looks up the address on use: most requests never need it, and the lookup is expensive next to a small answer. */
class BunConnection implements ClientConnection {
  readonly #request: Request;
  readonly #server: Server;
  readonly #sweep: DisconnectSweep;
  #address: string | undefined;

  constructor(request: Request, server: Server, sweep: DisconnectSweep) {
    this.#request = request;
    this.#server = server;
    this.#sweep = sweep;
  }

  onDisconnect(listener: DisconnectListener): void {
    this.#sweep.watch(this.#request.signal, listener);
  }

  get address(): string {
    this.#address ??= this.#server.requestIP(this.#request)?.address ?? '';
    return this.#address;
  }
}

/** For a streamed body, resolves when it has been sent or its client has disconnected; for any other, at once. */
async function sent(response: Response, client: BunConnection): Promise<void> {
  const body = bodySent(response);
  if (body === undefined) return;
  await new Promise<void>((resolve) => {
    const listener = { isOver: false, handleEvent: resolve };
    client.onDisconnect(listener);
    void body.then(() => {
      listener.isOver = true;
      resolve();
    });
  });
}

interface GatheredAnswer {
  readonly response: Response;
  resolve(response: Response): void;
}

/** Probes and scrapers get answers however many requests are in flight (decisions §4). */
const NEVER_REFUSED = /^[^?#]*\/(?:health|ready|metrics)(?:[?#]|$)/;

/** Bounds the requests in all (by the server's own count) and of one network, and counts those it refuses. */
class RequestBounds {
  readonly #countMax: number;
  readonly #inFlight: RequestsInFlight;
  readonly #refused = { all: 0, address: 0 };

  constructor({ connectionsMax, connectionsPerAddress }: ConnectionBounds) {
    this.#countMax = connectionsMax === 0 ? Number.POSITIVE_INFINITY : connectionsMax;
    this.#inFlight = new RequestsInFlight(connectionsPerAddress);
  }

  /** The bound that a request exceeds; counts the refusal. */
  boundAbove(request: Request, client: ClientConnection, { pendingRequests }: Server): 'all' | 'address' | undefined {
    const isFull = pendingRequests > this.#countMax && !NEVER_REFUSED.test(request.url);
    const bound = isFull ? 'all' : this.#inFlight.isCrowded(client) ? 'address' : undefined;
    if (bound !== undefined) this.#refused[bound]++;
    return bound;
  }

  /** Counts a request until its answer exists and its whole body has been sent, or the client has disconnected. */
  hold(answer: Response | Promise<Response>, client: BunConnection): Response | Promise<Response> {
    if (answer instanceof Promise) this.#inFlight.hold(client, () => answer.then((response) => sent(response, client)));
    else if (bodySent(answer) !== undefined) this.#inFlight.hold(client, () => sent(answer, client));
    return answer;
  }

  metrics(page: Exposition, { pendingRequests }: Server): void {
    page
      .single('paygrade_requests_in_flight', 'gauge', 'Requests that are not answered yet.', pendingRequests)
      .family('paygrade_connections_refused_total', 'counter', 'Requests refused for their number, by bound.');
    for (const [reason, count] of Object.entries(this.#refused)) page.sample(count, { reason });
  }
}

/**
 * Bun runs one handler at a time on a connection: it closes the connection, without an answer, when a request arrives
 * while another is pending or has its answer unread. So a client can leave only one answer unread. Requests answered
 * synchronously are never pending, so a pipeline of them would run in one turn: see TurnShare. For the same reason only
 * answers that come by promise are written together.
 * @throws the error of `Bun.serve`, with its code, when the address cannot be listened on
 */
export async function listen({ host, port, handle, unreadable, bounds, crowded }: ListenOptions): Promise<Listener> {
  const sweep = new DisconnectSweep();
  const requests = new RequestBounds(bounds);
  const turn = new TurnShare(systemClock);
  const answerLater = (request: Request, client: ClientConnection): Response | Promise<Response> =>
    request.signal.aborted ? unreceived() : handle(request, client);
  let isClosing = false;
  const send = (response: Response): Response => {
    if (isClosing) response.headers.set('connection', 'close');
    return response;
  };
  const turnEnd = new TurnEnd<GatheredAnswer>(({ response, resolve }) => resolve(send(response)), systemClock);
  const atTurnEnd = (response: Response): Promise<Response> =>
    new Promise((resolve) => turnEnd.write({ response, resolve }));
  const gathered = (answer: Response | Promise<Response>): Response | Promise<Response> =>
    answer instanceof Promise ? answer.then(atTurnEnd) : send(answer);
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    development: false,
    // Otherwise Bun in production shares the port with another process of the same user, and the system spreads
    // connections over both.
    reusePort: false,
    fetch(request, self) {
      const client = new BunConnection(request, self, sweep);
      const bound = requests.boundAbove(request, client, self);
      if (bound !== undefined) return crowded(bound, request);
      const answer = turn.isUsedUp()
        ? turn
            .next()
            .then(() => answerLater(request, client))
            .then(send)
        : gathered(handle(request, client));
      turnEnd.look();
      return requests.hold(answer, client);
    },
    error: unreadable,
  });
  return {
    port: server.port as number, // defined, because it listens on a port and not on a Unix socket
    metrics: (page) => requests.metrics(page, server),
    async close(graceMs) {
      isClosing = true;
      const lastIdleMs = Math.min(graceMs, LAST_IDLE_MS);
      // Bun's `stop` closes idle connections at once.
      await new Promise((resolve) => setTimeout(resolve, lastIdleMs));
      // Until the sockets have been read: a turn may have taken as long. Bun reads none before an immediate.
      await new Promise((resolve) => setTimeout(resolve, 1));
      let timer: ReturnType<typeof setTimeout> | undefined;
      const grace = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), graceMs - lastIdleMs);
      });
      const ended = await Promise.race([server.stop(false), grace]);
      clearTimeout(timer);
      if (ended === 'late') await server.stop(true);
    },
  };
}
