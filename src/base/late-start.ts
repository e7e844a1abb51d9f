/**
 * Parts that a server does not need for listening start at first use, or else this long after the start, milliseconds.
 * Starting a thread takes as much processor time as the first answers, which thus come first (bench/start.ts, with a
 * catalogue).
 */
export const LATE_START_MS = 100;
