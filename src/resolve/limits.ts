/** Every bound of resolves (siblings §7), with its unit and reason; those of their requests are in outbound/limits.ts. */
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import { MIB } from '../base/sizes.ts';
import { TARGET_LENGTH_MAX } from '../outbound/limits.ts';

/** siblings §7: the longest wait that a customer may choose, and the default. */
export const WAIT_SECONDS_MAX = 20;
export const WAIT_SECONDS_DEFAULT = 10;

/** siblings §7: time for the whole work of one resolve. */
export const WORK_MS = 30_000;

/** siblings §7: redirects that are followed. */
export const REDIRECT_COUNT_MAX = 10;

/** siblings §7: a result is kept this long from `created_at`, and its id gets 410 for as long again. */
export const KEPT_MS = HOUR_MS;
export const TOMBSTONE_MS = HOUR_MS;
/** A start keeps what looks over for so much longer, because its clock may be ahead and be set back a moment later. */
export const START_KEPT_MS = 10 * MINUTE_MS;

/** siblings §7: an extraction that takes longer is ended. Processor time of the reading thread, where the system reports it. */
export const EXTRACTION_MS = 2_000;

/**
 * Time from handing a document to a thread until that thread is ended in any case. The threads yield to the loop, so on a busy
 * machine the two seconds of work may take several times as long; a document that gets no processor time must not hold a
 * thread forever.
 */
export const EXTRACTION_WALL_MS = 20_000;

if (EXTRACTION_WALL_MS < 5 * EXTRACTION_MS || EXTRACTION_WALL_MS >= WORK_MS) {
  throw new Error('an extraction has time to be slow, and less than the resolve that it belongs to');
}

/** siblings §7: code points of `text`, and links. */
export const TEXT_CODE_POINTS_MAX = 100_000;
export const LINK_COUNT_MAX = 100;

/** Characters of a title that are gathered before it is shortened. */
export const TITLE_LENGTH_MAX = 16_384;

/** Code points of a link's text, of the short metadata (title, site, language, time), and of a description. */
export const LINK_TEXT_MAX = 200;
export const SHORT_VALUE_MAX = 500;
export const DESCRIPTION_MAX = 2_000;

/**
 * Works in flight in one process. A work holds at most one body as on the wire, 2 MiB, until a thread takes it, so at worst
 * all works hold 256 MiB; the overload bounds decide what a server can bear.
 */
export const WORK_COUNT_MAX = 128;

/** Works in flight of one payer. */
export const PAYER_WORK_COUNT_MAX = WORK_COUNT_MAX / 2;

/**
 * Bytes of the longest outcome as it is stored, UTF-8 of JSON. A code point of text takes at most 4 bytes. Escapes of 6 bytes
 * do not occur: a text only has line breaks and tabs to escape, 2 bytes each. An address of 2,048 characters is ASCII. Titles
 * and texts of links are at most 4 bytes a code point.
 */
export const OUTCOME_BYTES_MAX = MIB;

if (
  4 * TEXT_CODE_POINTS_MAX +
    LINK_COUNT_MAX * (2 * TARGET_LENGTH_MAX + 4 * LINK_TEXT_MAX) +
    (REDIRECT_COUNT_MAX + 6) * 2 * TARGET_LENGTH_MAX +
    8 * 4 * DESCRIPTION_MAX >
  OUTCOME_BYTES_MAX
) {
  throw new Error('the longest outcome of a resolve exceeds its bound');
}

/** Bytes of outcomes that a backend keeps: on disk an hour of two long ones a second, in memory what a small machine can spare. */
export const STORED_BYTES_ON_DISK = 4096 * MIB;
export const STORED_BYTES_IN_MEMORY = 256 * MIB;

/** Expired ids that still get 410, about 200 bytes each. Beyond this the oldest gets 404 before its hour is over. */
export const TOMBSTONE_COUNT_MAX = 65_536;

/** Pause between two sweeps of expired results. */
export const SWEEP_PAUSE_MS = 30_000;
