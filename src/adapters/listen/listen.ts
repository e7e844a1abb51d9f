import type { DisconnectListener } from '../../base/disconnect-listener.ts';

/** The port that both listeners implement: one Fetch handler behind a real socket. */
export interface Caller {
  /** The socket's peer address. */
  readonly address: string;
  /**
   * A request header as `Request.headers.get` would give it, name in lower case: where the listener has a cheaper way than
   * making a Headers object.
   */
  header?(name: string): string | null;
  /** Whether the client has gone away, as `Request.signal` would say: the same. */
  isDisconnected?(): boolean;
  /**
   * Tells the listener when it does, as a listener of `Request.signal` would be told, or when its answer has gone out: the
   * same. For each of 10,000 held requests such a listener takes 0.5 to 0.9 KiB on Bun, and an AbortController 1 on Node.
   */
  onDisconnect?(listener: DisconnectListener): void;
}

export type FetchHandler = (request: Request, caller: Caller) => Response | Promise<Response>;

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly fetch: FetchHandler;
  /** The answer to a request that the runtime could not even make a Request of. */
  readonly unreadable: () => Response;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections and requests; resolves when those under way are answered, or after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Longest silence on a connection. A long poll is silent for 30 s by contract (callback.md, "wait"); Bun's own default of
 * 10 s cuts it without a word.
 */
export const IDLE_TIMEOUT_SECONDS = 60;

/**
 * The runtime's own cap on bodies, bytes: none that a request could reach. A cap of Bun's answers before we see the request,
 * with an empty 413 where the contract's order has 405, 400, 404 or 429 first; what is read is bounded by `http/body`. A
 * body that nobody reads is thrown away as it comes: with 300 MiB really sent, declared and chunked, to every kind of
 * refusal, to a GET and to a held wait, the resident size of Bun 1.4.5 stayed at 52 MB throughout.
 */
export const RUNTIME_BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
