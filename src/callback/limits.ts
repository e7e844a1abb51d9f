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
 * Characters of a webhook's Content-Type; a longer one is refused, since `content_type` is shown as sent. Type and subtype
 * have 127 each at most (RFC 6838 §4.2), and a boundary 70.
 */
export const CONTENT_TYPE_CHARACTERS_MAX = 512;

/**
 * Characters of retained header values of one event, the content type counted twice because it is shown twice. A value
 * that does not fit is left out whole. Signatures of the known senders are 50 to 300 characters, and 1,536 are left beside
 * the longest content type; a runtime lets through 16 KiB, ten of which would pass the claim.
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

/** Rooms this small are remembered alike, so that a room made smaller between two runs loses no expired id. */
export const TOMBSTONE_COUNT_FLOOR = 65_536;
/**
 * The most that are remembered, whatever the room: every expiry of a room of 117 GB that is always full. They take 400
 * bytes each on Node 26 and 307 on Bun 1.4.5, so 105 MB at the ceiling. Beyond it the id that expired longest ago is answered 404 before its hour is over.
 */
export const TOMBSTONE_COUNT_CEILING = 262_144;

/**
 * Expired ids that are remembered: every callback that a room of `capacityBytes` holds, once for each lifetime in the time
 * they are remembered (47,952 with the default room).
 */
export function tombstoneCountMax(capacityBytes: number): number {
  const generationCount = Math.ceil(TOMBSTONE_MS / LIFETIME_MS);
  const count = Math.floor(capacityBytes / CLAIM_BYTES) * generationCount;
  return Math.min(Math.max(count, TOMBSTONE_COUNT_FLOOR), TOMBSTONE_COUNT_CEILING);
}

/** Ids without a callback whose rate is counted; the one seen longest ago is forgotten, which costs nobody anything. */
export const UNKNOWN_ID_COUNT_MAX = 16_384;

/**
 * Between two sweeps of one map, at least: a twentieth of a callback's life. Whoever asks for an entry finds it ended all the
 * same, and a room that is full is swept. With 100,000 live callbacks 167 end each second: a sweep for each, its code and data
 * gone cold in between, took 4 to 7 ms of every second, and each end a sync of its own on disk.
 */
export const SWEEP_PAUSE_MS = 30_000;

/** Entries that one turn of a sweep ends: about a millisecond, so that no request waits longer for it. */
export const SWEEP_COUNT_MAX = 256;
