/** Calendar months in UTC, as milliseconds since 1970. */

/** The start of the month that a time lies in. */
export function monthStartMs(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1);
}

/** The start of the month after the one that a time lies in. */
export function nextMonthMs(timeMs: number): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1);
}
