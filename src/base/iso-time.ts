/**
 * A time of an answer as RFC 3339 text: UTC with milliseconds and `Z`.
 * @throws RangeError when `unixMs` is outside the range of Date
 */
export const isoTime = (unixMs: number): string => new Date(unixMs).toISOString();

/** The same, or null where there is no time. @throws RangeError as {@link isoTime} */
export const isoTimeOrNull = (unixMs: number | null): string | null => (unixMs === null ? null : isoTime(unixMs));
