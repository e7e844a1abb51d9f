/** Bounds of the kit on request bodies. The budget of all bodies together is the setting `BODY_BYTES`. */
import { MIB } from '../base/sizes.ts';

/** Bytes of a body that is input, unless its operation says otherwise (decisions §5 for creations). */
export const INPUT_BYTES_MAX = 16_384;

/** A body that has not arrived after this time is 408 (decisions §5). */
export const INPUT_DEADLINE_MS = 30_000;

/** Nesting of arrays and objects in a body that is input. */
export const INPUT_DEPTH_MAX = 64;

/**
 * Memory that bodies which wait for the budget may take, bytes. They are unread, but a part of each has arrived and cannot be
 * sent back. Half of the default budget: two clients can each have 128 waiting bodies on Node, 16 on Bun.
 */
export const WAITING_BODY_BYTES_MAX = 32 * MIB;

/**
 * Bodies in flight whose client network is not looked up yet. When the budget fills, one turn looks all of them up, and on Bun
 * each look-up asks the system; few enough that no other request waits noticeably.
 */
export const UNNAMED_COUNT_MAX = 1024;

/**
 * Bytes that a waiting body takes at most. Node: a full stream and one further read, 64 KiB each; then node:http stops
 * reading. Bun buffers a body even if nothing reads it, up to about 1 MiB (measured with 1.4.5: 60 unread bodies of 4 MiB grew
 * the process by 76 MB).
 */
export const WAITING_BODY_BYTES = { node: 131_072, bun: MIB } as const;
