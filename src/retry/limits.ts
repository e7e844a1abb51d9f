/** Limits of retries (siblings §5, §6). */
import { DAY_MS, MINUTE_MS } from '../base/durations.ts';
import { MIB } from '../base/sizes.ts';

/** Bytes of a creation's body, and of a stored result body. */
export const REQUEST_BYTES_MAX = 262_144;
export const RESPONSE_BYTES_MAX = 262_144;

/** Nesting of arrays and objects in a creation's body (decisions §5). */
export const REQUEST_DEPTH_MAX = 256;

/** A creation's body that has not arrived after this time is 408 (decisions §5). */
export const BODY_DEADLINE_MS = 30_000;

export const HEADER_COUNT_MAX = 50;
/** Bytes of all headers: names, values and {@link HEADER_OVERHEAD_BYTES} each. */
export const HEADER_BYTES_MAX = 8192;
export const HEADER_OVERHEAD_BYTES = 4;

/** Statuses that one policy may list. */
export const RETRY_STATUS_COUNT_MAX = 100;

export const ATTEMPT_COUNT_MAX = 10;

/** An ended job stays readable this long. */
export const KEPT_MS = DAY_MS;

/** Pause before each try of a delivery, from the previous one. */
export const DELIVERY_PAUSES_MS = [0, 5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS] as const;
export const DELIVERY_TIMEOUT_MS = 15_000;

// The tries of a delivery end while its job is still readable.
const DELIVERY_MS = DELIVERY_PAUSES_MS.reduce<number>((sum, pauseMs) => sum + pauseMs + DELIVERY_TIMEOUT_MS, 0);
if (DELIVERY_MS > KEPT_MS) throw new Error('deliveries would outlive their jobs');

/** Nesting up to which a target's JSON is shown to customers as JSON; deeper bodies are shown as text. */
export const RESULT_DEPTH_MAX = 64;

/** Jobs that the worker holds, each with its request in memory: waiting for a turn, or with an attempt in flight. */
export const HELD_COUNT_MAX = 16_384;
/** Bytes of their requests, sealed. Each is in memory up to four times. */
export const HELD_BYTES_MAX = 32 * MIB;
/** Jobs that one look takes, and their bytes. A single customer may get that many before shares are compared. */
export const TAKEN_COUNT_MAX = 512;
export const TAKEN_BYTES_MAX = 2 * MIB;
/** A held job's result that is longer stays in the store until its delivery has its turn. */
export const HELD_RESULT_BYTES_MAX = 2048;

/** A look for customers who hold few jobs may pass over all due jobs of another; after one in vain, the next waits this long. */
export const FEW_PAUSE_MS = 1_000;

/** The worker looks again after this time even if it knows of nothing due: a clock may have been set. */
export const LOOK_PAUSE_MS_MAX = 30_000;
/**
 * A request waits this long for others with its idempotency key: time for a look-up and a settlement. Each holds its body
 * meanwhile, and without a bound concurrent requests would follow one another, five seconds each.
 */
export const CLAIM_WAIT_MS_MAX = 15_000;
/** Pause between two tries for an idempotency key that a request in another process has claimed. */
export const CLAIM_PAUSE_MS = 100;
/** Pause after a failure of the store. */
export const FAULT_PAUSE_MS = 1_000;
/** At shutdown, attempts in flight have this long to end; then they are interrupted. */
export const CLOSE_GRACE_MS = 5_000;
