/** Every bound of the callbacks (callback.md "Limits", decisions §5), with its unit and reason. */

/** callback.md: a callback lives ten minutes. */
export const LIFETIME_MS = 600_000;

/** callback.md: events kept by one callback. */
export const EVENT_COUNT_MAX = 10;

/** callback.md: raw bytes of one webhook's body. */
export const PAYLOAD_BYTES_MAX = 262_144;

/** callback.md: requests to one callback in any sliding window. */
export const RATE_COUNT_MAX = 30;
export const RATE_WINDOW_MS = 60_000;

/** callback.md, wait `timeout`. */
export const WAIT_SECONDS_MIN = 1;
export const WAIT_SECONDS_MAX = 30;

/** decisions §5: waits held open at a time on one callback. */
export const WAIT_COUNT_MAX = 64;

/** decisions §5: arrays and objects inside one another. Both runtimes parse deeper ones, and then fail to write them. */
export const JSON_DEPTH_MAX = 256;

/** decisions §5: a webhook's body has arrived by then, or is not stored. */
export const BODY_DEADLINE_MS = 30_000;

/** decisions §5: bytes of a creation body; nothing in it is used. */
export const CREATION_BYTES_MAX = 16_384;

/** decisions §5: what a callback claims beside its bodies: its own record, and ten times headers and envelope. */
export const OVERHEAD_BYTES = 65_536;
export const CLAIM_BYTES = EVENT_COUNT_MAX * PAYLOAD_BYTES_MAX + OVERHEAD_BYTES;

/**
 * Characters of retained header values of one event, the content type counted twice because it is shown twice. The value
 * that passes the bound is cut there. Signatures of the known senders are 50 to 300 characters; a runtime lets through
 * 16 KiB, ten of which would pass the claim.
 */
export const RETAINED_CHARACTERS_MAX = 2_560;

/** Names, punctuation, id and times of one event's JSON, at most. */
const ENVELOPE_BYTES = 768;
/** The callback's own record: id, digest, times, rate window. */
const RECORD_BYTES = 4_096;

// A header character is one byte on the wire and at most two in JSON (an escape, or UTF-8 of U+0080..U+00FF).
if (EVENT_COUNT_MAX * (2 * RETAINED_CHARACTERS_MAX + ENVELOPE_BYTES) + RECORD_BYTES > OVERHEAD_BYTES) {
  throw new Error('the overhead of a claim does not cover the retained headers');
}

/**
 * Characters of an event's finished JSON that stay in memory; longer ones live in the store alone. Nearly all real
 * webhooks are below, and ten of them at the bound are 80 KB of two-byte text beside a claim of 2.7 MB.
 */
export const INLINE_CHARACTERS_MAX = 4_096;

/** decisions §5: an expired id is answered 410 for so long. */
export const TOMBSTONE_MS = 3_600_000;

/** An hour's expiries of a full default store (21,474,836,480 / 2,686,976 live, six times an hour) are 47,952. */
export const TOMBSTONE_COUNT_MAX = 65_536;

/** Ids without a callback whose rate is counted; the one seen longest ago is forgotten, which costs nobody anything. */
export const STRANGER_COUNT_MAX = 16_384;

/** Entries that one turn of a sweep ends: about a millisecond, so that no request waits longer for it. */
export const SWEEP_COUNT_MAX = 256;
