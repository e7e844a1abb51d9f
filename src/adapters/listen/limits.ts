/**
 * Bounds of the listeners: what one connection, and all together, may make the process hold in memory. Two more are
 * settings, `CONNECTIONS_MAX` and `CONNECTIONS_PER_ADDRESS`. Where a bound is for Node alone, Bun's server offers no
 * hook for it; docs/limits.md ("Bounds on connections") says what stands in its place.
 *
 * Node, worst case: an open connection holds one partial head (16 KiB, node:http), one request in flight with at most
 * 128 KiB of unread body (a full stream and one read), and one answer. Waiting requests and unread output can be
 * larger, so they are bounded for all connections together: WAITING_BYTES_TOTAL_MAX and UNREAD_BYTES_TOTAL_MAX.
 */
import { MIB } from '../../base/sizes.ts';

/**
 * Longest silence of a connection between two requests, and on Bun in a request or an answer too. Proxies reuse an idle
 * connection for as long as they keep it themselves (nginx and AWS load balancers 60 s, Caddy 2 min); when the server
 * closes first, a request in flight is lost. A wait is silent for 30 s (callback.md, "wait"). Bun allows 255 s at most.
 */
export const IDLE_TIMEOUT_SECONDS = 150;

/**
 * Node: time for a whole head, from the first byte or from the opening of the connection (reliability 169). Twice a wait:
 * a head that arrived behind a waiting request may have to stay half read for as long as that request takes. Bun closes
 * after about 12 s.
 */
export const HEAD_TIMEOUT_MS = 60_000;

/** Node: time for a whole request. A body has 30 s once its handler reads it, which may be after a wait of 30 s. */
export const REQUEST_TIMEOUT_MS = 90_000;

/** Node: how often the two timeouts above are checked; a connection may exceed them by this much. */
export const TIMEOUT_CHECK_MS = 5_000;

/** Node: time for the rest of a body that the server does not want, once its answer has left; then the connection closes. */
export const DISCARD_MS = 500;

/** Requests that may wait on one connection behind the one in flight (decisions §2); one more closes the connection. */
export const WAITING_COUNT_MAX = 16;

/**
 * Bytes of waiting requests at which the server stops reading a connection. It reads until then, because only reading
 * shows that a client has disconnected. This is the size of one read in Node.
 */
export const WAITING_BYTES_MAX = 65_536;

/**
 * Memory of a waiting request besides the bytes received: the objects of node:http. Measured at 1.4 KiB with one header
 * (Node 26.10, 16 waiting on each of 500 sockets); each further header adds two strings.
 */
export const WAITING_OVERHEAD_BYTES = 4_096;

/** Bytes of all waiting requests; the connection that adds one above it is closed. Only pipelining clients ever wait. */
export const WAITING_BYTES_TOTAL_MAX = 64 * MIB;

/** How long waiting requests may run in a row before the event loop looks at sockets again. */
export const WAITED_TURN_MS = 5;

/**
 * Answers of a turn of the loop that are written at once, unless the turn before had more: with one or two requests in
 * flight the client works while the server does, which waiting for the other answer would end.
 */
export const AT_ONCE_COUNT = 2;

/**
 * How many answers of one turn are written together, and how long the first of them may wait for the others.
 * The time is looked at after each handler, so a slow one delays the answers before it by as long as it runs. On Node
 * eight saved at least half of what 32 did, and 64 no more.
 */
export const GATHERED_COUNT_MAX = 32;
export const GATHERED_MS = 1;

/**
 * Bun: how long requests answered synchronously may run in a row, on all connections; later ones begin in the next turn of the
 * loop. Bun runs all requests of a pipeline in one turn as long as each is answered at once: 17,000 of `/metrics` in 800 KB
 * stopped the loop for a minute. Hundreds of small answers take less, so that ordinary load never waits.
 */
export const ANSWERED_TURN_MS = 5;

/** Unread output of one connection that may last for {@link UNREAD_MS} (decisions §2): more than an honest reader leaves. */
export const UNREAD_BYTES_MAX = MIB;
export const UNREAD_MS = 30_000;

/**
 * Time in which the kernel must accept a piece of output, whatever its size. The largest answer in one piece is the compressed
 * library of `/docs` (half a MiB), which a client at 10 KB/s reads in this time.
 */
export const WRITE_TIMEOUT_MS = 60_000;

/**
 * Unread output of all connections. Above it the connections with the most are closed, until three quarters are left. It is a
 * sixteenth of the smallest heap that the server is run with, and room for 200 slow readers of `/metrics`.
 */
export const UNREAD_BYTES_TOTAL_MAX = 64 * MIB;
export const UNREAD_BYTES_TOTAL_LEFT = (UNREAD_BYTES_TOTAL_MAX * 3) / 4;

/**
 * New unread output after which all connections are checked before the next interval; the total may overshoot by this much.
 */
export const UNREAD_BYTES_UNCHECKED_MAX = 8 * MIB;

/**
 * At shutdown: how long a connection may be idle before it is closed. More than most clients take to read an answer and
 * send their next request, which is then answered with `Connection: close`; without it every connection in use would
 * lose the request that is on its way.
 */
export const LAST_IDLE_MS = 100;

/** How often the output of all connections is checked: 20,000 idle connections take 0.3 ms. */
export const OUTPUT_CHECK_MS = 1_000;
