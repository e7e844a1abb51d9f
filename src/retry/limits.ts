/** Limits of retries (siblings §5, §6). */

/** Bytes of a creation's body, and of a result's body that is kept. */
export const REQUEST_BYTES_MAX = 262_144;
export const RESPONSE_BYTES_MAX = 262_144;

/** Arrays and objects in one another that a creation's body may have (decisions §5). */
export const REQUEST_DEPTH_MAX = 256;

/** A creation's body that has not arrived after this time is 408 (decisions §5). */
export const BODY_DEADLINE_MS = 30_000;

/** Body of a target's answer: bytes on the wire, and unpacked (siblings §5). */
export const WIRE_BYTES_MAX = 2 * 1_048_576;
export const UNPACKED_BYTES_MAX = 8 * 1_048_576;

export const HEADER_COUNT_MAX = 50;
/** Names, values and {@link HEADER_OVERHEAD_BYTES} each. */
export const HEADER_BYTES_MAX = 8192;
export const HEADER_OVERHEAD_BYTES = 4;

/** Statuses that one policy may list; none is listed twice. */
export const RETRY_STATUS_COUNT_MAX = 100;

export const ATTEMPT_COUNT_MAX = 10;

/** An ended job stays readable this long. */
export const KEPT_MS = 24 * 3_600_000;

/** Pauses before the tries of a delivery, after the try before. */
export const DELIVERY_PAUSES_MS = [0, 5_000, 30_000, 120_000, 600_000] as const;
export const DELIVERY_TIMEOUT_MS = 15_000;

// The tries of a delivery end while its job is still readable.
const DELIVERY_MS = DELIVERY_PAUSES_MS.reduce<number>((sum, pauseMs) => sum + pauseMs + DELIVERY_TIMEOUT_MS, 0);
if (DELIVERY_MS > KEPT_MS) throw new Error('deliveries would outlive their jobs');

/** What is in a customer's answer of a target: bodies that nest deeper than this are shown as text. */
export const RESULT_DEPTH_MAX = 64;

/** Jobs that the worker holds, each with its request in memory: they wait for a turn, or their attempt is under way. */
export const HELD_COUNT_MAX = 16_384;
/** Bytes of their requests, sealed. Each is in memory up to four times. */
export const HELD_BYTES_MAX = 32 * 1_048_576;
/** Jobs of one look at what is due, and their bytes: one customer's at most, before what each of them holds is compared. */
export const TAKEN_COUNT_MAX = 512;
export const TAKEN_BYTES_MAX = 2 * 1_048_576;
/** Of a job that is held, a longer result stays in the store until its delivery has its turn. */
export const HELD_RESULT_BYTES_MAX = 2048;

/** A look for jobs of customers who hold few may pass over all that is due of another; after one in vain it rests. */
export const FEW_PAUSE_MS = 1_000;

/** The worker looks again after this time, although it knows of nothing that falls due: a clock may have been set. */
export const LOOK_PAUSE_MS_MAX = 30_000;
/**
 * A request waits this long for others with its idempotency key: time for a look at names and a settlement. Each holds its body
 * meanwhile, and without a bound as many as came at once would follow one another, five seconds each.
 */
export const CLAIM_WAIT_MS_MAX = 15_000;
/** Between two tries for an idempotency key that a request in another process has claimed. */
export const CLAIM_PAUSE_MS = 100;
/** After a failure of the store. */
export const FAULT_PAUSE_MS = 1_000;
/** At shutdown attempts that are under way have this long to end; later ones are interrupted. */
export const CLOSE_GRACE_MS = 5_000;
