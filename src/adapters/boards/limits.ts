/** Bounds of the requests for boards, with their reasons. */
import { MINUTE_MS } from '../../base/durations.ts';
import { MIB } from '../../base/sizes.ts';

/** All pages of a feed together, unpacked, bytes: what `import` accepts of one document. A longer feed fails and is never cut. */
export const FEED_BYTES_MAX = 256 * MIB;
/**
 * The feeds of all visits but one together, bytes. Together with the longest feed, whose parsing takes eight times its
 * length, they stay within `MemoryMax` of deploy/paygrade-watch.service.
 */
export const FEEDS_BYTES_MAX = 128 * MIB;
/** A page for people, not a list, unpacked, bytes: many times the longest real one. */
export const PAGE_BYTES_MAX = 16 * MIB;
/** One request, from its turn to the last byte, milliseconds. */
export const REQUEST_MS = 2 * MINUTE_MS;
/**
 * All pages of a feed together, milliseconds, without the pauses between them: a host that answers a byte at a time
 * cannot hold up a round.
 */
export const VISIT_MS_MAX = 20 * MINUTE_MS;
/** Redirects of one request; each is judged as the first address is. */
export const REDIRECTS_MAX = 5;
/** Requests for one page in one visit, when a host fails for a moment. */
export const TRIES_MAX = 3;
/** First pause between these tries, in multiples of the host's pause; it doubles. */
export const TRY_PAUSES = 2;
/** A longer `Retry-After` holds its board until a later round, so that a round ends, milliseconds. */
export const WAITED_MS_MAX = MINUTE_MS;
/** Boards in progress at a time. */
export const VISITS_AT_ONCE = 16;
