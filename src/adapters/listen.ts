/** The port that both listeners implement: one Fetch handler behind a real socket. */
export interface Caller {
  /** The socket's peer address. */
  readonly address: string;
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
 * The runtime's own cap on bodies. Above the contract's 262,144 bytes, so that it is our error object that says 413 and not
 * the runtime's empty body.
 */
export const RUNTIME_BODY_BYTES_MAX = 1024 * 1024;
