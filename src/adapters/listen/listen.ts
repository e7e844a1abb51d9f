/** The port that both listeners implement: one Fetch handler behind a real socket. */
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import type { Exposition } from '../../base/prometheus.ts';

/**
 * The client of one request, as its listener knows it. The optional members answer what `Request` answers too; a listener has
 * one where it can answer at a lower cost, and its users fall back to the `Request` where it has not.
 */
export interface ClientConnection {
  /** The peer address of the socket. */
  readonly address: string;
  /**
   * As `Request.headers.get`, name in lower case, without making a Headers object. `host` is the Host that the client sent;
   * behind the Node listener the headers and URL of the `Request` itself carry another one.
   */
  header?(name: string): string | null;
  /** As `Request.signal.aborted`. */
  isDisconnected?(): boolean;
  /**
   * The outcome of the answer, once it was handed over: whether the system has taken all of it, or the connection ended
   * before.
   */
  delivery?(): 'pending' | 'done' | 'lost';
  /**
   * Calls the listener once when the client disconnects, as `Request.signal` would; may also call it after the answer has gone
   * out. Costs less memory per held request than a listener on the signal (Bun) or the signal itself (Node).
   */
  onDisconnect?(listener: DisconnectListener): void;
  /**
   * Resets the connection at once, in the middle of an answer, so that the client cannot take what it has for the whole. A
   * listener without it resets the connection, and writes nothing about it, when the stream of a body has an error.
   */
  cut?(): void;
}

export type FetchHandler = (request: Request, client: ClientConnection) => Response | Promise<Response>;

/** Node bounds connections by them, Bun requests in flight, because its server has no hook for connections. */
export interface ConnectionBounds {
  /** In all; 0 is off. */
  readonly connectionsMax: number;
  /** Of one client network, loopback excepted; 0 is off. */
  readonly connectionsPerAddress: number;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly fetch: FetchHandler;
  /** The answer to a request that is too malformed for the runtime to make a `Request` of it. */
  readonly unreadable: () => Response;
  readonly bounds: ConnectionBounds;
  /** The answer to a request above one of the bounds, where the listener can bound requests only: in all, or of one network. */
  readonly crowded: (bound: 'all' | 'address') => Response;
}

export interface Listener {
  readonly port: number;
  /** Loads what the first request would otherwise wait for, after this turn. */
  start(): void;
  /** Writes the families of its connections. */
  metrics(page: Exposition): void;
  /** Stops accepting connections and requests. Resolves when the running ones are answered, or after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * The runtime's own limit on bodies, bytes: higher than any request can reach. With a lower one Bun would answer an empty 413
 * before the handler runs, where the contract's order has 405, 400, 404 or 429 first. `http/body` bounds what a handler reads;
 * Bun discards a body that the handler does not read while it arrives, so a large one does not fill memory.
 */
export const RUNTIME_BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
