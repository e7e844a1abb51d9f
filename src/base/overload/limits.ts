/** The bounds of overload (decisions §4; reliability 211, 212) and of measuring it, each with its unit and reason. */
import type { Pressure } from './pressure.ts';

/** decisions §4: from here on, new offers and unpaid creations are refused. */
export const BEGINS: Pressure = { memoryShare: 0.85, lateMs: 200 };
/** decisions §4: from here on, requests with a payment or a key are refused too. */
export const IS_SEVERE: Pressure = { memoryShare: 0.92, lateMs: 500 };
/** decisions §4: overload ends when both pressures are below. */
export const ENDS: Pressure = { memoryShare: 0.75, lateMs: 100 };

/** decisions §4: loop pressure is this quantile of the lateness over the last five seconds. */
export const LATE_SHARE = 0.9;
export const LATENESS_WINDOW_MS = 5_000;

/**
 * Pause between two looks at the event loop. A block that begins within a pause counts only from the pause's end, so measured
 * lateness is too low by at most this. An idle server spends 0.7 % of a core on it under Node and 0.4 % under Bun; 50 ms would
 * cost 0.3 % and hide half of the 100 ms that end overload.
 */
export const SAMPLE_PAUSE_MS = 20;

/** Lateness below this comes from the runtimes' timers, which count whole milliseconds. */
export const LATENESS_FLOOR_MS = 2;

/** Looks within one window, when every one of them is late. */
export const LATENESS_COUNT_MAX = Math.ceil(LATENESS_WINDOW_MS / SAMPLE_PAUSE_MS);

/**
 * Pause between two looks at the memory, 11 to 17 µs each: 0.007 % of a core. A client that makes the server allocate a
 * gigabyte a second gets a quarter of it before the server notices.
 */
export const MEMORY_PAUSE_MS = 250;

/**
 * Pause between two garbage collections under memory pressure: V8 returns the pages that one collection freed at the next one
 * that is at least eight seconds later. A collection stops the loop for 0.2 s with 400 MB in use.
 */
export const COLLECTION_PAUSE_MS = 10_000;

/** `Retry-After` of refusals: after one window, loop pressure of the past no longer counts. */
export const RETRY_AFTER_SECONDS = LATENESS_WINDOW_MS / 1_000;

for (const kind of ['memoryShare', 'lateMs'] as const) {
  if (!(ENDS[kind] < BEGINS[kind] && BEGINS[kind] < IS_SEVERE[kind])) {
    throw new Error(`the levels of ${kind} are out of order`);
  }
}
if (SAMPLE_PAUSE_MS * 4 > ENDS.lateMs)
  throw new Error('the event loop is looked at too rarely for the levels of lateness');
