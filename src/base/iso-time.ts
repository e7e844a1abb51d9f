/** Times in answers as text. A page of jobs has fifty of them, on few distinct days. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';

const SECOND_MS = 1000;
/** The largest distance from 1970 that a Date can show (ECMA-262, "Time Values and Time Range"), milliseconds. */
export const TIME_MS_MAX = 8.64e15;
const DAYS_MAX = 4096;

/** Longest text of a time: years outside 0 to 9999 have a sign and six digits (ECMA-262, "Expanded Years"). */
export const TIME_LENGTH_MAX = 27;

/** Memoized by day since 1970: its date and `T`. */
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

/** Truncates to whole milliseconds. Written so that NaN, for which every comparison is false, is refused. */
function requireTime(unixMs: number): number {
  if (!(Math.abs(unixMs) <= TIME_MS_MAX)) throw new RangeError('the time is outside the range of Date');
  return Math.trunc(unixMs);
}

/**
 * A time of an answer as RFC 3339 text: UTC with milliseconds and `Z`. Equals `toISOString`, in a third of its time on Node,
 * three quarters on Bun.
 * @throws RangeError when `unixMs` is outside the range of Date
 */
export function isoTime(unixMs: number): string {
  const time = requireTime(unixMs);
  const day = Math.floor(time / DAY_MS);
  const ms = time - day * DAY_MS;
  const hours = twoDigits[Math.floor(ms / HOUR_MS)]!;
  const minutes = twoDigits[Math.floor((ms % HOUR_MS) / MINUTE_MS)]!;
  const seconds = twoDigits[Math.floor((ms % MINUTE_MS) / SECOND_MS)]!;
  const rest = ms % SECOND_MS;
  const millis = rest === 0 ? '000' : String(rest).padStart(3, '0');
  return `${dateOf(day)}${hours}:${minutes}:${seconds}.${millis}Z`;
}

/** The UTC day of a time, `YYYY-MM-DD`. @throws RangeError as {@link isoTime} */
export const isoDate = (unixMs: number): string => dateOf(Math.floor(requireTime(unixMs) / DAY_MS)).slice(0, -1);

/** A time, or null where there is none. @throws RangeError as {@link isoTime} */
export const isoTimeOrNull = (unixMs: number | null): string | null => (unixMs === null ? null : isoTime(unixMs));

/**
 * The same text as ASCII bytes.
 * @param into has room for TIME_LENGTH_MAX bytes from `at` on
 * @returns the end of the bytes
 * @throws RangeError as {@link isoTime}
 */
export function isoTimeInto(unixMs: number, into: Uint8Array, at: number): number {
  const time = requireTime(unixMs);
  const day = Math.floor(time / DAY_MS);
  const ms = time - day * DAY_MS;
  const start = dateInto(day, into, at);
  const rest = ms % SECOND_MS;
  const seconds = (ms - rest) / SECOND_MS;
  digitsInto((seconds / 3600) | 0, into, start);
  into[start + 2] = COLON;
  digitsInto(((seconds / 60) | 0) % 60, into, start + 3);
  into[start + 5] = COLON;
  digitsInto(seconds % 60, into, start + 6);
  into[start + 8] = DOT;
  into[start + 9] = ZERO + ((rest / 100) | 0);
  digitsInto(rest % 100, into, start + 10);
  into[start + 12] = Z;
  return start + 13;
}

const ZERO = 0x30;
const COLON = 0x3a;
const DOT = 0x2e;
const Z = 0x5a;
const T = 0x54;
const DASH = 0x2d;

/** Days from 0000-03-01 to 1970-01-01, and days in 400 years of the Gregorian calendar. */
const DAYS_TO_1970 = 719_468;
const ERA_DAYS = 146_097;
/** The day of 0000-01-01, and the first after 9999-12-31: years in between have four digits and no sign. */
const FIRST_DAY = -719_528;
const PAST_DAY = 2_932_897;

/**
 * Date and `T`. Years are counted from March, so that a leap day is a year's last: a month then begins at day (153 m + 2) / 5
 * (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
 * @returns their end
 */
function dateInto(day: number, into: Uint8Array, at: number): number {
  if (day < FIRST_DAY || day >= PAST_DAY) {
    const date = dateOf(day);
    for (let i = 0; i < date.length; i++) into[at + i] = date.charCodeAt(i);
    return at + date.length;
  }
  const days = day + DAYS_TO_1970;
  const era = Math.floor(days / ERA_DAYS);
  const dayOfEra = days - era * ERA_DAYS;
  const leaps = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  const century = (year / 100) | 0;
  digitsInto(century, into, at);
  digitsInto(year - century * 100, into, at + 2);
  into[at + 4] = DASH;
  digitsInto(month, into, at + 5);
  into[at + 7] = DASH;
  digitsInto(dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1, into, at + 8);
  into[at + 10] = T;
  return at + 11;
}

/** Two digits of a number below 100. */
function digitsInto(count: number, into: Uint8Array, at: number): void {
  const tens = (count / 10) | 0;
  into[at] = ZERO + tens;
  into[at + 1] = ZERO + count - tens * 10;
}
