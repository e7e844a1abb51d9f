/** Bounds of what a gate asks of its jobs services (siblings §8). */
import { MIB } from '../../base/sizes.ts';

/** A longer body is no answer. The longest real one, a job with its description, has some 90 KB. */
export const ANSWER_BYTES_MAX = MIB;

/**
 * After this long without an answer the gate tests whether the service can be reached; the test takes at most twice as
 * long. So a machine that is off costs a customer a second and a half, less than the time limit for all services.
 */
export const QUIET_MS = 500;
export const REACH_MS = 1_000;

/** Most connections to one service; further questions wait for one within their time limit. */
export const CONNECTIONS_PER_SERVICE = 256;

/** Connections that stay open unused, and how long: less than common proxies and servers do. */
export const IDLE_CONNECTIONS_PER_SERVICE = 64;
export const IDLE_CONNECTION_MS = 4_000;

/** Pause between two looks at a service that answers, and at one that does not. */
export const LOOK_PAUSE_MS = 2_000;
export const LOOK_PAUSE_AWAY_MS = 500;
