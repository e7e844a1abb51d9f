/**
 * `Bun.serve` around the handler. This folder is a separate type-check project with Bun's types, so that the other sources do
 * not see Bun's globals.
 */
import { systemClock } from '../../../base/clock.ts';
import type { DisconnectListener } from '../../../base/disconnect-listener.ts';
import type { Exposition } from '../../../base/prometheus.ts';
import { bodySent } from '../../../http/respond.ts';
import { DisconnectSweep } from '../disconnect-sweep.ts';
import { IDLE_TIMEOUT_SECONDS } from '../limits.ts';
import {
  type ClientConnection,
  type ConnectionBounds,
  type Listener,
  type ListenOptions,
  RUNTIME_BODY_BYTES_MAX,
} from '../listen.ts';
import { NetworkCounts } from '../network-counts.ts';
import { RequestsInFlight } from '../requests-in-flight.ts';
import { TurnShare } from '../turn-share.ts';

type Server = Bun.Server<undefined>;

/** For a client that has left, or that was closed because its next request came too early; no one receives it. */
const unreceived = (): Response => new Response(null, { status: 503 });

/** Looks the address up on use: most requests never need it, and the lookup is dear beside a small answer. */
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

/** Resolves when a body that is made while it leaves has left, or its client has; at once for any other. */
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

/** What probes and scrapers ask is answered however many requests are in flight (decisions §4). */
const NEVER_REFUSED = /^[^?#]*\/(?:health|ready|metrics)(?:[?#]|$)/;

/** Bounds requests, in all by the server's own count, and of one network, and counts those that it refuses. */
class RequestBounds {
  readonly #countMax: number;
  readonly #inFlight: RequestsInFlight;
  readonly #refused = { all: 0, address: 0 };

  constructor({ connectionsMax, connectionsPerAddress }: ConnectionBounds) {
    this.#countMax = connectionsMax === 0 ? Number.POSITIVE_INFINITY : connectionsMax;
    this.#inFlight = new RequestsInFlight(new NetworkCounts(connectionsPerAddress), connectionsPerAddress);
  }

  /** The bound that a request is above, and counts it then. */
  boundAbove(request: Request, client: ClientConnection, { pendingRequests }: Server): 'all' | 'address' | undefined {
    const isFull = pendingRequests > this.#countMax && !NEVER_REFUSED.test(request.url);
    const bound = isFull ? 'all' : this.#inFlight.isCrowded(client) ? 'address' : undefined;
    if (bound !== undefined) this.#refused[bound]++;
    return bound;
  }

  /** Counts a request until its answer is there, and all of its body has left or the client has. */
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
 * Bun runs one handler at a time on a connection: a request that arrives while another one is pending, or while its answer is
 * unread, makes it close the connection without an answer. So one answer is all that a client can leave unread. Requests that
 * are answered at once are never pending, so a pipeline of them would run in one turn: see TurnShare.
 * @throws the error of `Bun.serve`, with its code, when the address cannot be listened on
 */
export async function listen({ host, port, handle, unreadable, bounds, crowded }: ListenOptions): Promise<Listener> {
  const sweep = new DisconnectSweep();
  const requests = new RequestBounds(bounds);
  const turn = new TurnShare(systemClock);
  const answerLater = (request: Request, client: ClientConnection): Response | Promise<Response> =>
    request.signal.aborted ? unreceived() : handle(request, client);
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    development: false,
    // Without development Bun shares a port with another process of the same user, and the system deals their connections out.
    reusePort: false,
    fetch(request, self) {
      const client = new BunConnection(request, self, sweep);
      const bound = requests.boundAbove(request, client, self);
      if (bound !== undefined) return crowded(bound);
      const answer = turn.isUsedUp() ? turn.next().then(() => answerLater(request, client)) : handle(request, client);
      return requests.hold(answer, client);
    },
    error: unreadable,
  });
  return {
    port: server.port as number, // listens on a port, not on a Unix socket
    metrics: (page) => requests.metrics(page, server),
    async close(graceMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const grace = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), graceMs);
      });
      const ended = await Promise.race([server.stop(false), grace]);
      clearTimeout(timer);
      if (ended === 'late') await server.stop(true);
    },
  };
}
