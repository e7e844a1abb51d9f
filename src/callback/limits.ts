/** Every bound of the callbacks (callback.md "Limits", decisions §5), with its unit and reason. */
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts';

/** callback.md: a callback lives ten minutes. */
export const LIFETIME_MS = 10 * MINUTE_MS;

/** callback.md: events that one callback stores. */
export const EVENT_COUNT_MAX = 10;

/** callback.md: raw bytes of one webhook's body. */
export const PAYLOAD_BYTES_MAX = 262_144;

/** callback.md: requests to one callback in any sliding window. */
export const RATE_COUNT_MAX = 30;
export const RATE_WINDOW_MS = MINUTE_MS;

/** decisions §5: reads of one callback (events, raw, wait) in any sliding window; more than any client needs. */
export const READ_COUNT_MAX = 600;
export const READ_WINDOW_MS = MINUTE_MS;

/** callback.md, wait `timeout`. */
export const WAIT_SECONDS_MIN = 1;
export const WAIT_SECONDS_MAX = 30;

/** decisions §5: waits held open at a time on one callback. */
export const WAIT_COUNT_MAX = 64;

/** decisions §5: nesting of arrays and objects. Both runtimes parse deeper nesting, and then fail to write it. */
export const JSON_DEPTH_MAX = 256;

/** decisions §5: a webhook whose body takes longer is not stored. */
export const BODY_DEADLINE_MS = 30_000;

/** decisions §5: bytes of a creation body, which the server ignores. */
export const CREATION_BYTES_MAX = 16_384;

/** decisions §5: bytes that a callback claims beyond its bodies: its record, and headers and envelope of ten events. */
export const OVERHEAD_BYTES = 65_536;
export const CLAIM_BYTES = EVENT_COUNT_MAX * PAYLOAD_BYTES_MAX + OVERHEAD_BYTES;

/**
 * Characters of a webhook's Content-Type; the server refuses a longer one, since it shows `content_type` as sent. Type and
 * subtype have 127 each at most (RFC 6838 §4.2), and a boundary 70.
 */
export const CONTENT_TYPE_CHARACTERS_MAX = 512;

/**
 * Characters of retained header values of one event; the content type counts twice because it is shown twice. An event leaves
 * out a value that does not fit. Signatures of known senders have 50 to 300 characters, and 1,536 remain beside the longest
 * content type. The runtimes accept 16 KiB of headers, and ten events of that size would exceed the claim.
 */
export const RETAINED_CHARACTERS_MAX = 2_560;

/** Names, punctuation, id and times of one event's JSON, at most. */
const ENVELOPE_BYTES = 768;
/** The callback's record: id, digest, times, the window of webhooks; and the full window of reads, 4 bytes each. */
const RECORD_BYTES = 4_096 + 4 * READ_COUNT_MAX;

// A header character is one byte on the wire and at most two in JSON (an escape, or UTF-8 of U+0080..U+00FF).
if (EVENT_COUNT_MAX * (2 * RETAINED_CHARACTERS_MAX + ENVELOPE_BYTES) + RECORD_BYTES > OVERHEAD_BYTES) {
  throw new Error('the overhead of a claim does not cover the retained headers');
}

/**
 * Bytes of head and body up to which memory holds an event; only the event store holds longer ones. Nearly all real webhooks
 * are shorter, and ten at the bound take 40 KB of a claim of 2.7 MB.
 */
export const INLINE_BYTES_MAX = 4_096;

/**
 * Bytes of a body that the store reads at a time. A reader holds one part, whatever the event's size, and reading a part takes
 * the store's thread less than a millisecond.
 */
export const EVENT_PART_BYTES = 65_536;

/**
 * Bytes of an answer that are made at a time, each piece in a separate turn of the loop: escaping a piece takes a fraction of
 * a millisecond. A longer answer is sent while it is made; for a client that does not read, the server holds one piece and the
 * part that it is made from.
 */
export const PIECE_BYTES_MAX = 65_536;

/** Bytes of an answer around the JSON of its events: names, id, time, `next_wait_url`, commas. */
export const FRAME_BYTES_MAX = 512;

/** Most bytes of JSON for one byte of a body: `\u0000`. */
export const ESCAPED_BYTES_MAX = 6;

// Inline events are finished at once; the longest must fit a piece.
if (ESCAPED_BYTES_MAX * INLINE_BYTES_MAX > PIECE_BYTES_MAX / 2) throw new Error('an inline event exceeds half a piece');

/** decisions §5: how long an expired id is answered 410 rather than 404. */
export const TOMBSTONE_MS = HOUR_MS;

/**
 * A start removes only callbacks that have been over for this long beyond their hour of 410: a machine whose hardware clock runs
 * in local time starts up to fourteen hours ahead and is set back a moment later.
 */
export const CLOCK_AHEAD_MS_MAX = 14 * HOUR_MS;

/** The least bound on tombstones, so that a restart with less capacity loses none. */
export const TOMBSTONE_COUNT_FLOOR = 65_536;
/**
 * The greatest bound on tombstones, whatever the capacity: enough for 117 GB of capacity that is always full. At up to 400
 * bytes each they take 105 MB. With more, the id that expired longest ago answers 404 before its hour is over.
 */
export const TOMBSTONE_COUNT_CEILING = 262_144;

/**
 * The bound on tombstones for a capacity: as many callbacks as `capacityBytes` can hold, for each lifetime in TOMBSTONE_MS
 * (47,952 with the default capacity).
 */
export function tombstoneCountMax(capacityBytes: number): number {
  const generationCount = Math.ceil(TOMBSTONE_MS / LIFETIME_MS);
  const count = Math.floor(capacityBytes / CLAIM_BYTES) * generationCount;
  return Math.min(Math.max(count, TOMBSTONE_COUNT_FLOOR), TOMBSTONE_COUNT_CEILING);
}

/** Ids without a live callback whose rate is counted. Forgetting the one seen longest ago harms no customer. */
export const UNKNOWN_ID_COUNT_MAX = 16_384;

/**
 * Least time between two sweeps of one map: a twentieth of a callback's lifetime. Until a sweep, a request still finds an
 * expired entry expired, and a claim on full capacity sweeps at once. Sweeping each entry separately would run with cold code
 * and data, and sync the disk each time (bench/callback-store.ts).
 */
export const SWEEP_PAUSE_MS = 30_000;

/** Entries that one turn of a sweep ends, few enough that no request waits noticeably for it. */
export const SWEEP_COUNT_MAX = 256;
