/** The port that both listeners implement: one handler behind a real socket. */
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { BodySource } from '../../http/body.ts';
import type { MadeResponse } from '../../http/response-form.ts';

/** A request as a listener hands it over: a Fetch `Request`, or an object with these members. */
export type ServedRequest = BodySource & {
  readonly method: string;
  /** As `Request.url`, or without scheme and authority. */
  readonly url: string;
  /** Absent where the client's connection has `isDisconnected` and `onDisconnect`. */
  readonly signal?: AbortSignal;
};

/**
 * The client of one request, as its listener knows it. The optional members duplicate what `Request` offers; a listener
 * has one where it can answer at a lower cost, and callers fall back to the `Request` otherwise.
 */
export interface ClientConnection {
  /** The peer address of the socket. */
  readonly address: string;
  /**
   * As `Request.headers.get`, name in lower case, without making a Headers object. `host` is the Host that the client sent;
   * a `Request` may carry another one.
   */
  header?(name: string): string | null;
  /** As `Request.signal.aborted`. */
  isDisconnected?(): boolean;
  /**
   * Calls the listener once the system has accepted the whole answer; never when the connection ends first. Register it
   * before handing the answer over.
   */
  onDelivered?(listener: () => void): void;
  /**
   * Calls the listener once, in a later turn, when the client disconnects or already has; may also call it after the answer was
   * sent. Costs less memory per held request than a listener on the signal (Bun) or the signal itself (Node).
   */
  onDisconnect?(listener: DisconnectListener): void;
  /**
   * Resets the connection at once, in the middle of an answer, so that the client cannot take the part for the whole. A
   * listener without it resets the connection, without logging, when a body's stream fails.
   */
  cut?(): void;
}

export type RequestHandler<R> = (request: ServedRequest, client: ClientConnection) => R | Promise<R>;

/** Node applies them to connections, Bun to requests in flight, because its server has no hook for connections. */
export interface ConnectionBounds {
  /** Most in all; 0 is off. */
  readonly connectionsMax: number;
  /** Most of one client network, except loopback; 0 is off. */
  readonly connectionsPerAddress: number;
}

/** @typeParam R the form of responses that the runtime's listener takes */
export interface ListenOptions<R extends MadeResponse = Response> {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Never throws and never rejects. */
  readonly handle: RequestHandler<R>;
  /** The answer to a request whose target is no address. */
  readonly unreadable: () => R;
  /** Receives a bug in a response that cannot be sent. */
  readonly report: (failure: unknown) => void;
  readonly bounds: ConnectionBounds;
  /** The answer to a request above a bound (`all`, or of one `address`), where the listener can bound only requests. */
  readonly crowded: (bound: 'all' | 'address', request: ServedRequest) => R;
}

export interface Listener {
  readonly port: number;
  /** Writes the families of its connections. */
  metrics(page: Exposition): void;
  /**
   * Answers what comes on open connections (on Bun also on new ones) for a moment, with `Connection: close`, and then accepts
   * nothing. Resolves when all clients have their answers, or after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * The runtime's own limit on bodies, bytes: higher than any request can reach. With a lower one Bun would answer an empty 413
 * before the handler runs, where the contract's order has 405, 400, 404 or 429 first. `http/body` bounds what a handler reads;
 * Bun discards a body that the handler does not read while it arrives, so a large one does not fill memory.
 */
export const RUNTIME_BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
